"use strict";
// Before the page is drawn, so that it never flashes in the other colours.
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
    document.getElementById("theme").addEventListener("click", () => {
      chosen = dark() ? "light" : "dark";
      try { localStorage.setItem(key, chosen); } catch { /* it holds for this page */ }
      apply();
    });
  });
})();
