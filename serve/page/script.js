// Searches as one types. Without it the form asks for the page again.
"use strict";
const form = document.getElementById("search");
if (form) {
  const list = document.getElementById("hits"), found = document.getElementById("found");
  let timer = 0, asked = 0;

  // address is where a hit leads to, as on the page that the server makes.
  const address = (hit) => {
    if (hit.source === "memory") return "/projects/" + encodeURIComponent(hit.project) + "/memory/" + hit.start_line;
    const entry = /^memoir:[a-z]+-([0-9]+)$/.exec(hit.session);
    if (entry) return "/projects/" + encodeURIComponent(hit.project) + "/notes#note-" + entry[1];
    return "/sessions/" + encodeURIComponent(hit.session) + "?at=" + hit.item + "#i-" + hit.item;
  };

  const paragraph = (name, content) => {
    const p = document.createElement("p");
    p.className = name;
    p.append(content);
    return p;
  };

  const show = (answer) => {
    list.replaceChildren(...(answer.hits || []).map((hit) => {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = address(hit);
      link.textContent = hit.snippet;
      const facts = [hit.source, hit.project, hit.session].filter(Boolean).join(", ");
      item.append(paragraph("", link), paragraph("facts", facts));
      return item;
    }));
    found.textContent = answer.hits ? answer.hits.length + " found" : answer.error;
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const query = new URLSearchParams(new FormData(form)), mine = ++asked;
      history.replaceState(null, "", "?" + query);
      if (!query.get("q").trim()) {
        show({ hits: [] });
        return;
      }
      try {
        const answer = await (await fetch("/search?" + query, { headers: { Accept: "application/json" } })).json();
        if (mine === asked) show(answer);
      } catch {
        found.textContent = "the server does not answer";
      }
    }, 150);
  });
}
