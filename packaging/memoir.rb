class Memoir < Formula
  desc "Memory for coding agents"
  homepage "@RELEASES@"
  version "@VERSION@"
  license "MIT"
@ARCHIVES@
  def install
    bin.install "memoir"
    man1.install "share/man/man1/memoir.1"
    bash_completion.install "share/bash-completion/completions/memoir"
    zsh_completion.install "share/zsh/site-functions/_memoir"
    fish_completion.install "share/fish/vendor_completions.d/memoir.fish"
  end

  test do
    system bin/"memoir", "--version"
  end
end
