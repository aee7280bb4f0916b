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
  const form = document.getElementById("filter");
  if (!form) return;
  const [find, only, order] = ["find", "only", "order"].map((id) => document.getElementById(id));
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
    const active = words !== "" || only.value !== "";
    let matches = 0;
    for (const group of groups) {
      let here = 0;
      for (const { row, text, kind } of group.rows) {
        row.hidden = active && !(text.includes(words) && kind.includes(only.value));
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
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", filter);
  only.addEventListener("change", filter);
  order.addEventListener("change", sort);
})();
