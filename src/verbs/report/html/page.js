"use strict";
(() => {
  // A link leads into what is folded.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  // Commands are copied where the browser lets a page do that.
  for (const code of navigator.clipboard ? document.querySelectorAll(".cmd") : []) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copy";
    copy.textContent = "Copy";
    copy.setAttribute("aria-label", `Copy ${code.textContent}`);
    copy.addEventListener("click", () =>
      navigator.clipboard.writeText(code.textContent).then(() => (copy.textContent = "Copied")));
    code.after(copy);
  }
  const form = document.getElementById("filter");
  if (!form) return;
  const [find, order] = ["find", "order"].map((id) => document.getElementById(id));
  const chips = [...form.querySelectorAll("[data-only]")];
  let only = "";
  const folds = document.getElementById("folds");
  const groups = [...folds.children].map((fold) => ({
    fold,
    wasOpen: fold.open,
    rows: [...fold.querySelectorAll("tbody tr")].map((row) => ({
      row,
      text: row.textContent.toLowerCase(),
      kind: (row.dataset.k || "") + (row.querySelector(".mark") ? "s" : ""),
    })),
  }));
  const filter = () => {
    const words = find.value.toLowerCase().trim();
    const active = words !== "" || only !== "";
    let matches = 0;
    for (const group of groups) {
      let here = 0;
      for (const { row, text, kind } of group.rows) {
        row.hidden = active && !(text.includes(words) && kind.includes(only));
        if (!row.hidden) here += 1;
      }
      group.fold.hidden = here === 0;
      group.fold.open = active ? here > 0 && matches < 500 : group.wasOpen;
      matches += here;
    }
    document.getElementById("matches").textContent = active ? `${matches} found` : "";
  };
  const sort = () => {
    const oldest = order.value === "o";
    for (const group of oldest ? [...groups].reverse() : groups) {
      const body = group.fold.querySelector("tbody");
      const rows = group.rows.map(({ row }) => row);
      body.append(...(oldest ? rows.reverse() : rows));
      folds.append(group.fold);
    }
  };
  const rows = () => groups.flatMap((group) => group.rows);
  const choose = (chip) => {
    only = chip.dataset.only;
    for (const each of chips) each.setAttribute("aria-pressed", each === chip);
    filter();
  };
  for (const chip of chips) {
    const count = rows().filter(({ kind }) => kind.includes(chip.dataset.only)).length;
    chip.append(` ${count}`);
    chip.hidden = count === 0;
    chip.addEventListener("click", () => choose(chip));
  }
  choose(chips[0]);
  // The next and the previous commit, in the order in which they are shown.
  addEventListener("keydown", (event) => {
    const step = { j: 1, k: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input,select")) return;
    const shown = [...folds.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
    const row = shown[shown.indexOf(document.activeElement) + step];
    if (!row) return;
    row.closest("details").open = true;
    row.tabIndex = -1;
    row.focus();
  });
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", filter);
  order.addEventListener("change", sort);
})();
