/**
 * The film of a network: its tokens go from layer to layer, what a layer does not see of its A
 * fades, and the bar goes from the formula's number to the exact one.
 */
import { scaleLinear } from "d3-scale";
import { isStill, player } from "../kit/motion";
import { withMinus } from "../kit/numbers";
import type { Look } from "../kit/picture";
import { viewIn, type Group } from "../kit/view";
import { barAt, doneOf, linesAt, momentAt, secondsOf, type Moment } from "./hypotheses_clock";
import type { FilmFacts, MatrixPart, TokenLine } from "./hypotheses_facts";

const LARGEST = 40; // pixels: the radius of a station
const CELL = 11; // pixels: an entry of a matrix
const TIGHT = 17; // in sizes of words: in a lower box there are fewer of them
const FADED = 0.1; // what a layer does not see stays as a shadow
const LINE = 1.25; // of words, in their size

/** Where all of it stands, in pixels. */
interface Places {
  note: number;
  radius: number;
  /** The middles of the stations. */
  across: number[];
  /** The middles of the matrices of a layer. */
  slots: number[];
  /** The top of the matrices, and of the bar. */
  matrices: number;
  bar: number;
  cell: number;
  isTight: boolean;
}

export function filmView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "film");
  svg.attr("role", "img").attr("class", "nv-exact");
  const ways = svg.append("g").attr("class", "ways");
  const stations = svg.append("g");
  const going = svg.append("g").attr("class", "station");
  const matrices = svg.append("g");
  const bar = svg.append("g");
  const below = document.createElement("div");
  below.className = "words";
  svg.node()!.parentElement!.after(below);
  const words = below.appendChild(document.createElement("p"));
  words.className = "nv-answer nv-exact";

  let film: FilmFacts;
  let look: Look;
  let places: Places;
  let share = 0;
  let moveBar: (done: number) => void = () => {};

  const play = player(below, {
    name: "play the film",
    get seconds() {
      return secondsOf(film.acts);
    },
    from: () => (share < 1 ? share : 0),
    to: move,
  });
  const button = below.querySelector<HTMLButtonElement>(".nv-play")!;

  function measure() {
    const [width, height] = size();
    const { note } = look.sizes;
    const isTight = height < TIGHT * note;
    const lines = isTight ? 1 : 2; // below a station, and below a matrix
    const last = film.stations.length - 1;
    const slot = width / last;
    const cell = Math.min(CELL, (slot - 4.2 * note) / 10);
    const bar = height - (2 * LINE + 1.4) * note;
    const matrices = bar - 5 * cell - (lines * LINE + 0.9) * note;
    const radius = Math.min(LARGEST, width / 7, (matrices - (lines * LINE + 0.8) * note) / 2);
    const edge = Math.max(radius, 3.9 * note); // half the words below a station
    places = {
      note,
      radius,
      across: film.stations.map((_, n) => edge + (n / last) * (width - 2 * edge)),
      slots: film.matrices.map((_, n) => (n + 0.5) * slot),
      matrices,
      bar,
      cell,
      isTight,
    };
  }

  /** What stands from the beginning. */
  function drawStill() {
    const { note, radius, across, isTight } = places;
    ways
      .selectAll("line")
      .data(across.slice(1))
      .join("line")
      .attr("x1", (_, n) => across[n] + radius + 6)
      .attr("x2", (x) => x - radius - 6)
      .attr("y1", radius + 1)
      .attr("y2", radius + 1);
    stations.selectAll("*").remove();
    film.stations.forEach(({ name, spread, lines }, n) => {
      const station = stations.append("g").attr("class", "station");
      station.attr("transform", `translate(${across[n]} ${radius + 1})`);
      station.append("circle").attr("class", "round").attr("r", radius);
      drawTokens(station.append("g").attr("class", "tokens"), lines);
      const word = (kind: string, text: string, line: number) =>
        station
          .append("text")
          .attr("class", kind)
          .attr("y", radius + line * LINE * note)
          .text(text);
      if (!isTight) word("role-soft", name, 1);
      word("spread nv-answer", spread, isTight ? 1 : 2);
    });
    matrices.selectAll("*").remove();
    film.matrices.forEach(({ name, parts }, n) => drawMatrix(name, parts, places.slots[n]));
    drawBar();
  }

  function drawTokens(group: Group, lines: TokenLine[]) {
    const { radius } = places;
    const one = group
      .selectAll<SVGGElement, TokenLine>("g")
      .data(lines)
      .join((enter) => {
        const made = enter.append("g");
        made.append("line");
        made.append("circle");
        return made;
      })
      .attr("transform", ({ angle }) => `rotate(${-angle})`);
    one
      .select("line")
      .attr("x1", ({ reach }) => -radius * reach)
      .attr("x2", ({ reach }) => radius * reach);
    one
      .select("circle")
      .attr("r", Math.min(look.sizes.marker / 2, radius / 5))
      .attr("cx", ({ reach, at }) => radius * reach * at);
  }

  /** A as the sum of its two parts. */
  function drawMatrix(name: string, parts: MatrixPart[], middle: number) {
    const { note, matrices: top, cell, isTight } = places;
    const side = cell * parts[0].entries.length;
    const [equals, plus] = [2.4 * note, 1.3 * note];
    const group = matrices.append("g").attr("class", "matrix");
    const words = Math.max(side, 6.4 * note); // below the second part
    const left = middle - (equals + side + plus + words) / 2;
    group.attr("transform", `translate(${left} ${top})`);
    const sign = (text: string, x: number) =>
      group
        .append("text")
        .attr("x", x)
        .attr("y", side / 2 + 0.35 * note)
        .text(text);
    sign(`${name} =`, equals - 1.1 * note);
    sign("+", equals + side + plus / 2);
    parts.forEach((part, n) => {
      const at = group.append("g").attr("class", "part");
      at.attr("transform", `translate(${equals + n * (side + plus)} 0)`);
      const end = part.most || 1;
      const shade = scaleLinear<string>()
        .domain([-end, -end / 2, 0, end / 2, end])
        .range(look.diverging);
      const cells = part.entries.flatMap((row, i) =>
        row.map((entry, j) => ({ i, j, entry, isSeen: part.seen[i][j] })),
      );
      at.selectAll(".entry")
        .data(cells)
        .join("rect")
        .attr("class", ({ isSeen }) => (isSeen ? "entry" : "entry hidden"))
        .attr("x", ({ j }) => j * cell)
        .attr("y", ({ i }) => i * cell)
        .attr("width", cell - 1)
        .attr("height", cell - 1)
        .attr("fill", ({ entry }) => shade(entry));
      at.append("rect").attr("class", "frame").attr("width", side).attr("height", side);
      // The words of the two stand apart, however small the matrices are.
      const word = (kind: string, line: number) =>
        at
          .append("text")
          .attr("class", kind)
          .attr("text-anchor", n ? "start" : "end")
          .attr("x", n ? 0 : side)
          .attr("y", side + line * LINE * note);
      const title = word("role-soft", 1).text(part.name);
      const most = part.most < 0.005 ? "0" : `up to ${+part.most.toPrecision(2)}`;
      const size = isTight ? null : word("most role-soft", 2).text(most);
      if (!cells.some((one) => one.isSeen)) {
        (size ?? title).classed("gives-way", true);
        word("unseen role-outside nv-answer", isTight ? 1 : 2).text("not seen");
      }
    });
  }

  function drawBar() {
    const { name, formula, exact } = film.bar;
    const { note, bar: top } = places;
    const [width] = size();
    const ends = [Math.min(0, formula, exact), Math.max(0, formula, exact)];
    const x = scaleLinear(ends, [1, width - 2]);
    bar.selectAll("*").remove();
    const under = top + LINE * note;
    const high = 1.2 * note;
    const at = (kind: string, end: number) =>
      bar
        .append("rect")
        .attr("class", kind)
        .attr("x", Math.min(x(0), x(end)))
        .attr("width", Math.abs(x(end) - x(0)))
        .attr("y", under)
        .attr("height", high);
    const now = at("now nv-answer", formula);
    at("formula", formula);
    const word = (kind: string, end: number, y: number) =>
      bar
        .append("text")
        .attr("class", kind)
        .attr("text-anchor", x(end) > width / 2 ? "end" : "start")
        .attr("x", x(end))
        .attr("y", y);
    word("role-ink", formula, top + 0.9 * note).text(`${name}: ${withMinus(formula)}`);
    const off = exact - formula;
    const difference = off ? ` (${off > 0 ? "+" : ""}${withMinus(off)})` : "";
    word("exact role-measured nv-answer", exact, under + high + LINE * note).text(
      `exact rank: ${exact}${difference}`,
    );
    moveBar = (done) => {
      const end = barAt(film, done);
      now.attr("x", Math.min(x(0), x(end))).attr("width", Math.abs(x(end) - x(0)));
      now.classed("is-exact", done === 1);
      bar.select(".exact").attr("opacity", Number(done === 1));
    };
  }

  function move(next: number) {
    share = next;
    const moment = momentAt(film.acts, share);
    moveTokens(moment);
    matrices.selectAll<SVGGElement, unknown>(".matrix").each((_, n, all) => {
      const faded = doneOf(film.acts, moment, "look", n + 1);
      const group = all[n];
      const act = film.acts[moment.act];
      group.classList.toggle("watched", act.kind === "look" && act.layer === n + 1 && share < 1);
      for (const entry of group.querySelectorAll(".hidden")) {
        entry.setAttribute("opacity", String(1 - faded * (1 - FADED)));
      }
      const show = (kind: string, opacity: number) => {
        for (const word of group.querySelectorAll(kind)) {
          word.setAttribute("opacity", String(Math.max(0, opacity)));
        }
      };
      // "not seen" stands where another word stood: that one has gone before it comes.
      show(".gives-way", 1 - 2 * faded);
      show(".unseen", 2 * faded - 1);
    });
    moveBar(doneOf(film.acts, moment, "count"));
    const says = film.acts[moment.act].says.map(({ text }) => text).join(" ");
    if (words.textContent !== says) words.textContent = says;
  }

  /** Stations show their tokens once these have come there. */
  function moveTokens(moment: Moment) {
    const { across, radius } = places;
    let isGoing = false;
    stations.selectAll<SVGGElement, unknown>(".station").each((_, n, all) => {
      const done = n ? doneOf(film.acts, moment, "layer", n) : 1;
      const isThere = done === 1;
      for (const part of all[n].querySelectorAll(".tokens, .spread")) {
        part.setAttribute("opacity", String(Number(isThere)));
      }
      if (done === 0 || isThere) return;
      isGoing = true;
      const x = across[n - 1] + done * (across[n] - across[n - 1]);
      going.attr("transform", `translate(${x} ${radius + 1})`);
      drawTokens(going, linesAt(film, n, done));
    });
    going.attr("opacity", Number(isGoing));
  }

  return {
    /** The film of another network stands at its beginning. */
    draw(facts: FilmFacts, given: Look) {
      film = facts;
      look = given;
      headline(facts.says, true);
      measure();
      drawStill();
      const all = facts.acts.map(({ says }) => says.map(({ text }) => text).join(" "));
      svg.attr("aria-label", all.join(" "));
      move(share);
    },

    /** Plays it from the beginning; where motion is reduced it stands at its end. */
    begin() {
      play.stop();
      play.show(!isStill());
      move(isStill() ? 1 : 0);
      if (!isStill()) button.click();
    },

    /** Stops, goes on, or plays it again. */
    toggle() {
      if (!isStill()) button.click();
    },

    stop: () => play.stop(),
  };
}
