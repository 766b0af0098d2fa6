// Searches as one types. Without it the form asks for the page again.
"use strict";
const form = document.getElementById("search");
if (form) {
  const found = document.getElementById("found");
  let timer = 0, asked = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const address = "/search?" + new URLSearchParams(new FormData(form)), mine = ++asked;
      history.replaceState(null, "", address);
      try {
        const text = await (await fetch(address, { headers: { Accept: "text/html" } })).text();
        const page = new DOMParser().parseFromString(text, "text/html");
        if (mine !== asked) return;
        document.getElementById("hits").replaceChildren(...page.querySelectorAll("#hits > li"));
        found.textContent = page.querySelector("#found, [role=alert]").textContent;
      } catch {
        found.textContent = "the server does not answer";
      }
    }, 150);
  });
}
