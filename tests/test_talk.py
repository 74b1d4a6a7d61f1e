"""A scene that is dragged, and the controls that follow it."""

import node

_DRAG = """
import { talkOf } from "kit/panel/talk";

const heard: string[] = [];
const listeners = new Set<() => void>();
const values: Record<string, number> = { s: 0, y: 0 };
const control = (name: string) => ({
  get: (key: string) => (key === "value" ? values[name] : undefined),
  set(_key: string, value: number) {
    values[name] = value;
    for (const listen of listeners) listen();
  },
  save_changes: () => void heard.push(`${name}=${values[name]}`),
  on: (_names: string, listen: () => void) => void listeners.add(listen),
  off() {},
});
const talk = talkOf({ s: control("s"), y: control("y") } as never, () => ({}));
const halfway: unknown[] = [];
talk.heard(() => halfway.push([talk.get("s"), talk.get("y")]));

const seen: unknown[] = [];
for (let move = 1; move <= given.moves; move++) {
  talk.set({ s: move, y: -move });
  seen.push([talk.get("s"), talk.get("y")]);
}
const atOnce = [...heard];
await new Promise((end) => setTimeout(end, 200));
values.s = 7; // somebody else moves it
say({ seen, halfway, atOnce, heard, after: talk.get("s") });
"""


def test_controls_follow_a_drag_at_their_own_pace_and_end_where_it_ends():
    found = node.ask(_DRAG, {"moves": 50})
    # the scene is where the hand is, also while a control is on its way
    assert found["seen"] == [[move, -move] for move in range(1, 51)]
    assert found["halfway"] == 2 * [[1, -1]] + 2 * [[50, -50]]
    assert found["atOnce"] == ["s=1", "y=-1"]
    assert found["heard"] == ["s=1", "y=-1", "s=50", "y=-50"]
    assert found["after"] == 7
