// Plotly charts in the colours of the page; drawn when scrolled near, and redrawn when the colours change.
const root = document.documentElement;
const drawn = new Map();
let library;

/** Plotly, fetched from this server for the first chart. */
function plotly() {
  library ??= new Promise((done, failed) => {
    const {head} = document, add = head.appendChild, script = document.createElement("script");
    // Plotly injects styles for maps, which are not used here and which the page's policy would refuse with an error.
    head.appendChild = child => child.localName === "style" ? child : add.call(head, child);
    script.src = "/static/plotly.min.js";
    script.onload = () => { delete head.appendChild; done(window.Plotly); };
    script.onerror = () => failed(new Error("The charts could not be loaded."));
    document.head.append(script);
  });
  return library;
}

/** A colour of the page by name. */
export const ink = name => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

/** The colour with an opacity. */
export function faint(colour, opacity) {
  const [red, green, blue] = [1, 3, 5].map(place => parseInt(colour.slice(place, place + 2), 16));
  return `rgba(${red},${green},${blue},${opacity})`;
}

function layoutOf(own) {
  const axis = {gridcolor: ink("grid"), linecolor: ink("line"), zerolinecolor: ink("line"), zeroline: false, fixedrange: true,
    automargin: true, tickfont: {size: 12}};
  return {
    margin: {l: 48, r: 12, t: 8, b: 40}, showlegend: false, hovermode: "closest", dragmode: false, autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: {family: getComputedStyle(document.body).fontFamily, size: 12.5, color: ink("ink")},
    hoverlabel: {bgcolor: ink("raised"), bordercolor: ink("line"), font: {color: ink("ink")}},
    ...own,
    legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: {size: 12}, ...own.legend},
    xaxis: {...axis, ...own.xaxis}, yaxis: {...axis, ...own.yaxis},
  };
}

async function redraw(place) {
  const {make, onClick} = drawn.get(place), Plotly = await plotly();
  const {data, layout} = make(place.clientWidth);
  const first = !place.classList.contains("js-plotly-plot");
  await Plotly.react(place, data, layoutOf(layout), {displayModeBar: false, responsive: true, showTips: false});
  if (first && onClick) place.on("plotly_click", onClick);
  place.dataset.drawn = "true";
}

const near = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting || !drawn.has(entry.target)) continue;
    near.unobserve(entry.target);
    const chart = drawn.get(entry.target);
    chart.seen = true;
    redraw(entry.target).then(chart.done);
  }
}, {rootMargin: "300px"});

/**
 * Draws a chart in an element: `make` returns data and layout for a width, and is called again when the colours change.
 * What comes back is kept once the chart can be seen.
 */
export function draw(place, make, {onClick} = {}) {
  const before = drawn.get(place);
  if (before?.seen) {
    drawn.set(place, {...before, make, onClick});
    return redraw(place);
  }
  return new Promise(done => {
    drawn.set(place, {make, onClick, done, seen: false});
    near.observe(place);
  });
}

root.addEventListener("themechange", () => {
  for (const [place, {seen}] of drawn) {
    if (!place.isConnected) drawn.delete(place);
    else if (seen) redraw(place);
  }
});

const FEW = 12;

/** An axis of classes: all are named if they are few, else some. */
export function classAxis(classes, own = {}) {
  const step = Math.ceil(classes.length / FEW), places = classes.map((_, place) => place).filter(place => place % step === 0);
  return {tickmode: "array", tickvals: places, ticktext: places.map(place => classes[place]), range: [-0.6, classes.length - 0.4],
    showgrid: false, ticklabeloverflow: "allow", ...own}; // else the last name is dropped if it is wider than its bar
}
