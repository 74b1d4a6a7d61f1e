/** The numbers of a ledger, and the words beside them: Python's where it has answered. */
import { sum } from "../kit/matrix";
import { withMinus } from "../kit/numbers";
import type { Role, Said } from "../kit/picture";
import type { FamilyName, LedgerFacts } from "./ledger_facts";
import type { Counts, Network } from "./ledger_network";

export type RowName = "parameters" | FamilyName | "unexplained" | "dimension";

export const FAMILIES: FamilyName[] = ["head bases", "interfaces", "rescalings"];
export const ROWS: RowName[] = ["parameters", ...FAMILIES, "unexplained", "dimension"];

/** What each bar is long. */
export interface Numbers {
  parameters: number;
  /** What is taken away, row by row: the families, and what is unexplained. */
  costs: number[];
  dimension: number;
  formula: number;
}

export interface Row {
  name: RowName;
  /** The number, with its sign; dots where only Python says it. */
  number: string;
  role: Role;
  isOpen: boolean;
  why: Said[];
}

/** `facts` are Python's words about this network; null: they are about another one. */
export function numbersOf(counts: Counts, facts: LedgerFacts | null): Numbers {
  if (facts) {
    const { parameters, families, unexplained, dimension, formula } = facts;
    return {
      parameters: parameters.count,
      costs: [...families.map(({ cost }) => cost), unexplained.count],
      dimension: dimension.count,
      formula: formula?.value ?? dimension.count,
    };
  }
  const { parameters, parts, dimension } = counts;
  const [heads, interfaces, rescalings] = FAMILIES.map((name) => sum(parts[name]));
  // The interfaces count for less where the rest has no room for all their bases.
  const others = parameters - heads - rescalings - dimension;
  const between = Math.min(interfaces, others);
  const costs = [heads, between, rescalings, others - between];
  return { parameters, costs, dimension, formula: dimension };
}

export function rowsOf(net: Network, counts: Counts, facts: LedgerFacts | null): Row[] {
  const { parameters, costs, dimension } = numbersOf(counts, facts);
  return ROWS.map((name, i): Row => {
    const isCost = i > 0 && i < ROWS.length - 1;
    const count = isCost ? costs[i - 1] : name === "parameters" ? parameters : dimension;
    const isOpen = !facts && !counts.isSure && isOpenIn(name);
    return {
      name,
      number: isOpen ? "…" : `${isCost && count > 0 ? "−" : ""}${Math.abs(count)}`,
      role: roleOf(name, count, facts !== null),
      isOpen,
      why: whyOf(name, net, counts, facts, isOpen),
    };
  });
}

/** Whether only an exact rank says a number. */
function isOpenIn(name: RowName): boolean {
  return name === "interfaces" || name === "unexplained";
}

function roleOf(name: RowName, count: number, isExact: boolean): Role {
  if (name === "dimension" && isExact) return "measured";
  if (name === "unexplained" && count) return "outside";
  return count ? "ink" : "soft";
}

/** Why a row is there. */
function whyOf(
  name: RowName,
  net: Network,
  counts: Counts,
  facts: LedgerFacts | null,
  isOpen: boolean,
): Said[] {
  if (name === "dimension") return dimensionWords(facts);
  if (name === "unexplained") return [soft(unexplainedWords(counts, facts))];
  if (name === "parameters") {
    const parts = net.headDims.map((a, i) => {
      return net.widths[i] * (2 * a + net.widths[i + 1]);
    });
    return [soft(`all entries of Q, K and V${inParts(parts)}`)];
  }
  const said = facts?.families.find((family) => family.name === name);
  const parts = said ? said.parts : isOpen ? [] : counts.parts[name];
  return [soft(familyWords(name, net) + inParts(parts))];
}

function familyWords(name: FamilyName, net: Network): string {
  if (name === "head bases") {
    const isBeyond = net.headDims.some((a, i) => a > net.widths[i]);
    return isBeyond ? "another basis, 2ad − d² for a > d" : "another basis inside a head";
  }
  if (name === "interfaces") {
    const isAlone = net.headDims.length === 1;
    return isAlone ? "one layer: nothing between" : "another basis between two layers";
  }
  // One token sees no A at all.
  if (net.kind === "softmax") return net.tokens > 1 ? "softmax sees A × c: none" : "softmax: none";
  return "A × c and V ÷ c in a layer";
}

function unexplainedWords(counts: Counts, facts: LedgerFacts | null): string {
  if (facts) return facts.unexplained.count ? facts.unexplained.says : "nothing left";
  if (!counts.isSure) return "what no symmetry explains";
  return counts.unexplained ? "other causes" : "nothing left";
}

function dimensionWords(facts: LedgerFacts | null): Said[] {
  if (!facts) return [soft("by the formula; the exact rank comes from Python")];
  const { formula, paper } = facts;
  const theory = formula ? `${formula.source}: ${formula.value}` : "no formula";
  const words = [soft(`exact rank · ${theory}`)];
  if (paper) {
    const value = withMinus(paper.value);
    words.push({ text: ` · ${paper.source}: ${value} · does not apply`, role: "outside" });
  }
  return words;
}

const soft = (text: string): Said => ({ text, role: "soft" });

/** What a row is made of, layer by layer; nothing where there is one part. */
export function inParts(parts: number[]): string {
  if (parts.length < 2) return "";
  const isEven = parts.length > 2 && new Set(parts).size === 1;
  const all = isEven ? `${parts.length} × ${parts[0]}` : parts.join(" + ");
  return `: ${all.replaceAll(" ", "\u00a0")}`; // a sum is not broken over two lines
}

/** How far the output moves, as a share of its size: in percent while that is read at a glance. */
export function inWords(share: number): string {
  if (share < 0.005) return "less than 1 %";
  if (share < 10) return `${Math.round(100 * share)} %`;
  return `${Number(share.toPrecision(2)).toLocaleString("en")} times its size`;
}

/** A small number as a digit and a power of ten, in Unicode. */
export function little(value: number): string {
  const [digit, exponent] = value.toExponential(0).split("e-");
  if (exponent === undefined) return digit.replace("e+0", "");
  const raised = exponent.replace(/\d/g, (one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(one)]);
  return `${digit}·10⁻${raised}`;
}

/** A number as an index, in Unicode. */
export const subscript = (n: number): string =>
  String(n).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);
