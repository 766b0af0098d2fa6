// Makes times local, searches as one types, and answers reviews by keys. Without it times are UTC, and forms and
// buttons ask for pages.
"use strict";
const local = (of) => {
  for (const t of of.querySelectorAll("time"))
    t.textContent = new Date(t.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
};
local(document);
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
        local(page);
        document.getElementById("hits").replaceChildren(...page.querySelectorAll("#hits > li"));
        found.textContent = page.querySelector("#found, [role=alert]").textContent;
      } catch {
        found.textContent = "the server does not answer";
      }
    }, 150);
  });
}
document.getElementById("keys")?.removeAttribute("hidden");
addEventListener("keydown", (e) => {
  const line = e.target.closest(".waits"), answer = { k: "keep", d: "drop", c: "confirm" }[e.key];
  if (!line || e.ctrlKey || e.metaKey || e.altKey || e.target.matches("textarea")) return;
  if (answer) line.querySelector(`button[value=${answer}]`)?.click();
  if (e.key !== "e") return;
  line.querySelector(".answers details").open = true;
  line.querySelector("textarea").focus();
  e.preventDefault();
});
