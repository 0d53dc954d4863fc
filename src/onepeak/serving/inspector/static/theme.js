"use strict";
// Runs before the page is drawn, so that it never flashes in the wrong colours.
(() => {
  const root = document.documentElement, key = "onepeak-theme", system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem(key); } catch { /* storage is forbidden: the system decides */ }
  const dark = () => chosen ? chosen === "dark" : system.matches;
  const apply = () => {
    root.dataset.theme = dark() ? "dark" : "light";
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-pressed", String(dark()));
    root.dispatchEvent(new Event("themechange"));
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme")?.addEventListener("click", () => {
      chosen = dark() ? "light" : "dark";
      try { localStorage.setItem(key, chosen); } catch { /* then it applies to this page only */ }
      apply();
    });
  });
})();
