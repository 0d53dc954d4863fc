"use strict";
// Charts are drawn when they come near the screen, in the colours of the page.
const drawn = new Set();
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function colours(layout) {
  const changes = {"font.color": ink("--ink"), "font.family": getComputedStyle(document.body).fontFamily, "font.size": 12};
  for (const axis of Object.keys(layout).filter(name => /^[xy]axis/.test(name))) {
    changes[axis + ".gridcolor"] = ink("--grid");
    changes[axis + ".linecolor"] = ink("--line");
    changes[axis + ".zerolinecolor"] = ink("--line");
  }
  return changes;
}

function draw(chart) {
  if (drawn.has(chart)) return;
  drawn.add(chart);
  const {data, layout} = JSON.parse(document.getElementById(chart.dataset.figure).textContent);
  const narrow = chart.clientWidth < 560 && data.length > 4 && layout.showlegend;
  if (narrow) layout.height += 60; // the names of the methods take several lines
  Plotly.newPlot(chart, data, layout, {responsive: true, displaylogo: false, displayModeBar: false})
    .then(() => Plotly.relayout(chart, colours(layout)));
}

const near = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
}, {rootMargin: "600px"});
for (const chart of document.querySelectorAll(".chart")) near.observe(chart);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const chart of drawn) Plotly.relayout(chart, colours(chart.layout));
});

/** Draws the charts for the width and the colours of paper, or again for those of the window. */
function fit(printed) {
  document.documentElement.classList.toggle("printed", printed);
  for (const chart of drawn) Plotly.relayout(chart, {...colours(chart.layout), width: printed ? chart.clientWidth : null, autosize: !printed});
}
addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll(".findings details")) closed.open = true;
  fit(true);
  for (const chart of document.querySelectorAll(".chart")) draw(chart);
});
addEventListener("afterprint", () => fit(false));

// One predicted label for all charts of a section.
for (const choice of document.querySelectorAll(".choose")) {
  const slider = choice.querySelector("input"), shown = choice.querySelector("output");
  const names = JSON.parse(slider.dataset.names);
  slider.addEventListener("input", () => {
    shown.textContent = names[slider.value];
    for (const chart of choice.parentElement.querySelectorAll(".chart")) {
      draw(chart);
      Plotly.restyle(chart, {visible: chart.data.map(trace => trace.meta === Number(slider.value))});
    }
  });
}

// A click on a column's name sorts by it, another one the other way round.
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const table = button.closest("table"), body = table.tBodies[0], place = button.closest("th").cellIndex;
    const down = table.dataset.sorted === String(place);
    table.dataset.sorted = down ? "" : place;
    const value = row => {
      const text = row.cells[place].textContent.trim().replace("−", "-");
      return Number.isNaN(parseFloat(text)) ? text : parseFloat(text);
    };
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
    });
    body.append(...(down ? rows.reverse() : rows));
  });
}
