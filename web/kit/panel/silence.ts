/** How long the same words have stood there while Python works: the page counts by itself. */

const QUIET = 4; // seconds: a shorter silence is not worth a word

export class Silence {
  private words = "";
  private since = 0;

  /** The words, and for how long Python has said nothing else; `now` in milliseconds. */
  after(words: string, now: number): string {
    if (words !== this.words) {
      this.words = words;
      this.since = now;
    }
    const seconds = Math.floor((now - this.since) / 1000);
    return seconds < QUIET ? words : `${words} · no news for ${seconds} s`;
  }
}
