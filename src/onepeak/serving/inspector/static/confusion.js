// The confusion matrix: a table whose cells open their samples.
import {about, byId, element, getJson, percent, problem} from "./page.js";

const form = byId("choice"), matrix = byId("matrix"), summary = byId("summary");
const FEW = 30; // above so many classes, cells show their colour only
let turn = 0;

function readAddress() {
  const given = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (field.type === "checkbox") field.checked = given.get(field.name) === "true";
    else field.value = given.get(field.name) ?? field.options[0].value;
  }
}

function written() {
  const address = new URLSearchParams();
  for (const field of form.elements) {
    if (field.type === "checkbox") { if (field.checked) address.set(field.name, "true"); }
    else if (field.value) address.set(field.name, field.value);
  }
  return address;
}

function cell(count, total, truth, predicted, classes, filters, shares) {
  const share = total ? count / total : 0, text = !count ? "" : shares ? (100 * share).toFixed(0) : count.toLocaleString("en");
  const address = new URLSearchParams(filters);
  address.set("truth", truth);
  address.set("predicted", predicted);
  const told = `${count.toLocaleString("en")} of true class ${classes[truth]} predicted ${classes[predicted]} (${percent(share, 0)})`;
  const inside = count ? element("a", {href: `/samples?${address}`, "aria-label": told, title: told}, classes.length > FEW ? "" : text) : "";
  const made = element("td", {class: truth === predicted ? "right" : share > 0.55 ? "dense" : null}, inside);
  made.style.setProperty("--share", count ? Math.max(share, 0.05).toFixed(3) : "0");
  return made;
}

async function show() {
  const own = ++turn, filters = written(), shares = filters.get("shares") === "true";
  filters.delete("shares");
  try {
    const [{classes}, {counts}] = await Promise.all([about(), getJson(`/v1/inspect/confusion?${filters}`)]);
    if (own !== turn) return;
    problem(null);
    const flat = counts.flat(), all = flat.reduce((sum, each) => sum + each, 0), right = counts.reduce((sum, row, place) => sum + row[place], 0);
    const near = counts.reduce((sum, row, truth) => sum + row.reduce((part, each, place) => part + (Math.abs(place - truth) <= 1 ? each : 0), 0), 0);
    summary.textContent = `${all.toLocaleString("en")} predictions: ${percent(right / all)} correct, ${percent(near / all)} at most one class off.`;
    matrix.classList.toggle("many", classes.length > FEW);
    const step = Math.ceil(classes.length / FEW), named = (name, place) => place % step ? "" : name;
    matrix.tHead.replaceChildren(element("tr", {}, element("th", {scope: "col"}, "true ↓ predicted →"), classes.map((name, place) => element("th", {scope: "col", title: name}, named(name, place)))));
    matrix.tBodies[0].replaceChildren(...counts.map((row, truth) => {
      const total = row.reduce((sum, each) => sum + each, 0);
      return element("tr", {}, element("th", {scope: "row", title: classes[truth]}, named(classes[truth], truth) || element("span", {class: "unseen"}, classes[truth])),
        row.map((count, predicted) => cell(count, total, truth, predicted, classes, filters, shares)));
    }));
  } catch (error) {
    problem(error);
  }
}

form.addEventListener("input", () => {
  history.pushState(null, "", `?${written()}`);
  show();
});
form.addEventListener("submit", event => event.preventDefault());
addEventListener("popstate", () => { readAddress(); show(); });
readAddress();
show();
