// The grid of samples: the address holds the filter, the server applies it, with sixty samples per page.
import {PAGE_SIZE, cameFrom, filtersOf, sampleAddress} from "./address.js";
import {about, byId, counted, element, features, followed, getJson, percent, problem, typing} from "./page.js";
import {headline, judged, spark} from "./posterior.js";

const form = byId("filters"), grid = byId("grid"), found = byId("found");
let latest, asking;

/** Fills the fields from the address. */
function readAddress() {
  const address = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (!field.name) continue;
    const given = address.get(field.name);
    if (field.type === "checkbox") field.checked = given === "true";
    else if (field.name === "soi") field.value = given ? String(+(100 * given).toFixed(4)) : "";
    else field.value = given ?? (field.tagName === "SELECT" ? field.options[0].value : "");
  }
}

/** The fields as an address; defaults are left out. */
function written() {
  const address = new URLSearchParams();
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") { if (field.checked) address.set(field.name, "true"); }
    else if (!field.value || !field.checkValidity()) continue;
    else if (field.name === "soi") address.set("soi", String(+(field.value / 100).toFixed(6)));
    else if (field.tagName !== "SELECT" || field.name === "method" || field.value !== field.options[0].value) address.set(field.name, field.value);
  }
  return address;
}

function card(entry, classes, kind, filters) {
  const seen = kind === "pictures"
    ? element("img", {src: `/thumbnail/${entry.part}/${entry.item}`, alt: "", loading: "lazy", width: 160, height: 120})
    : kind === "rows" ? features(entry.features, "row") : "";
  return element("li", {}, element("a", {class: "card", href: sampleAddress(entry, filters)},
    seen, spark(entry),
    element("span", {class: "says"}, element("span", {class: "label"}, headline(entry, classes)), element("span", {class: "quiet"}, judged(entry, entry.truth, classes))),
    element("span", {class: "says"}, element("span", {class: "quiet"}, `SOI ${percent(entry.soi, 0)}`), entry.paradoxical && element("span", {class: "badge warn"}, "paradoxical"), entry.trained_on && element("span", {class: "badge warn"}, "trained on"), entry.distance > 1 && element("span", {class: "badge warn", title: `distance ${entry.distance} from the training, usually within 1`}, "unlike the training"), (entry.flag || entry.note) && element("span", {class: "badge neutral", title: entry.note}, entry.flag ? "⚑ flagged" : "note")),
    entry.other !== null && element("span", {class: "quiet"}, `${filters.get("other")}: ${classes[entry.other]}`),
    element("span", {class: "name"}, element("bdi", {}, entry.name))));
}

/** Links to pages: the first, the last, and those around the one shown. */
function pager({page, num_pages: count}) {
  if (count === 1) return [];
  const near = [...new Set([1, page - 1, page, page + 1, count])].filter(each => each >= 1 && each <= count);
  const address = each => { const all = written(); if (each > 1) all.set("page", each); return `?${all}`; };
  const link = (each, text, rel) => element("a", {href: address(each), rel, "aria-current": each === page && !rel ? "page" : null, "aria-label": rel ? null : `Page ${each}`}, text);
  return [
    page > 1 ? link(page - 1, "←\u00a0Previous", "prev") : "",
    near.flatMap((each, place) => [place && each - near[place - 1] > 1 ? element("span", {}, "…") : "", link(each, each.toLocaleString("en"))]),
    page < count ? link(page + 1, "Next\u00a0→", "next") : "",
  ].flat();
}

async function show() {
  asking?.abort();
  const own = asking = new AbortController(), filters = filtersOf(location.search), address = new URLSearchParams(filters);
  address.set("page", new URLSearchParams(location.search).get("page") ?? 1);
  grid.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => { found.textContent = "Reading the posteriors …"; }, 300);
  try {
    const [{classes}, page] = await Promise.all([about(), getJson(`/v1/inspect/samples?${address}`, {signal: own.signal})]);
    latest = page;
    problem(null);
    const first = (page.page - 1) * PAGE_SIZE + 1, last = first + page.entries.length - 1;
    found.textContent = page.total ? `${first.toLocaleString("en")} to ${last.toLocaleString("en")} of ${counted(page.total, "sample")}` : "No sample matches: remove a filter.";
    byId("export").hidden = !page.total;
    byId("export").href = `/v1/inspect/samples.csv?${filters}`;
    byId("reason").hidden = !page.reason;
    byId("reason").textContent = page.reason ? `${page.reason} Posteriors are shown without images.` : "";
    grid.replaceChildren(...page.entries.map(entry => card(entry, classes, page.kind, filters)));
    for (const place of document.querySelectorAll(".pages")) place.replaceChildren(...pager(page));
  } catch (error) {
    if (error.name === "AbortError") return;
    problem(error);
    found.textContent = "";
    grid.replaceChildren();
  } finally {
    clearTimeout(slow);
    if (asking === own) grid.removeAttribute("aria-busy");
  }
}

/** Applies the fields; letters typed into one word are one step for the back button. */
function changed({replace = false} = {}) {
  const query = written().toString(), address = `${location.pathname}${query ? `?${query}` : ""}`;
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

let pause, words = false;
form.addEventListener("input", event => {
  const typed = event.target.matches("[type=search], [type=number]");
  clearTimeout(pause);
  pause = setTimeout(() => { changed({replace: typed && words}); words = typed; }, typed ? 250 : 0);
});
form.addEventListener("focusout", () => { words = false; });
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("reset", event => {
  event.preventDefault();
  const method = form.elements.method.value;
  for (const field of form.elements) {
    if (field.type === "checkbox") field.checked = false;
    else if (field.tagName === "SELECT") field.selectedIndex = 0;
    else if (field.name) field.value = "";
  }
  form.elements.method.value = method;
  changed();
});
for (const place of document.querySelectorAll(".pages")) place.addEventListener("click", event => {
  const link = followed(event);
  if (link) turn(link.href);
});
addEventListener("popstate", () => { readAddress(); show(); });

async function turn(address) {
  history.pushState(null, "", address);
  await show();
  scrollTo({top: 0});
  grid.querySelector("a")?.focus({preventScroll: true});
}

/** Arrow keys move over the grid as displayed: the number of columns follows from the width. */
function move(event) {
  const cards = [...grid.querySelectorAll("a")], here = cards.indexOf(document.activeElement);
  if (!cards.length) return;
  const columns = cards.filter(each => each.offsetTop === cards[0].offsetTop).length;
  const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns}[event.key];
  const next = here === -1 ? 0 : event.key === "Home" ? 0 : event.key === "End" ? cards.length - 1 : here + step;
  if (here === -1 && !grid.contains(document.activeElement) && document.activeElement !== document.body) return;
  if (next < 0 || next >= cards.length) return;
  event.preventDefault();
  cards[next].focus();
}

addEventListener("keydown", event => {
  if (typing(event)) return;
  if (["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) move(event);
  else if (event.key === "/") { event.preventDefault(); byId("filter-box").open = true; form.elements.search.focus(); }
  else if (event.key === "n") document.querySelector(".pages a[rel=next]")?.click();
  else if (event.key === "p") document.querySelector(".pages a[rel=prev]")?.click();
});
grid.addEventListener("error", event => event.target.classList.add("gone"), true); // an image that no longer exists

if (matchMedia("(max-width: 62rem)").matches) byId("filter-box").open = false;
readAddress();
const more = document.querySelector(".more");
if ([...more.querySelectorAll("[name]")].some(field => field.type === "checkbox" ? field.checked : field.value)) more.open = true;
await show();
const before = cameFrom();
if (before) [...grid.querySelectorAll("a")].find(each => new URL(each.href).pathname === before)?.focus();
