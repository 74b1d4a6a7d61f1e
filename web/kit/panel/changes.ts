/** What has changed in plain data; `changes` in `neuroviz/kit/plot.py` finds it. */

export type Path = (string | number)[];
/** The new value, or nothing for what is gone. */
export type Change = [path: Path, value?: unknown];

type Inner = Record<string, unknown>;

/** A copy with one value changed: what did not change is the same object. */
export function changed<Data>(data: Data, [path, value]: Change): Data {
  const copy = Array.isArray(data) ? [...data] : { ...data };
  const inner = copy as Inner;
  const [key, ...rest] = path;
  if (rest.length) inner[key] = changed(inner[key], [rest, value]);
  else if (value === undefined) delete inner[key];
  else inner[key] = value;
  return copy as Data;
}
