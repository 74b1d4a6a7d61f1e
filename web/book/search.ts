/** The page of search results, opened without words: it asks for some. */
import { made } from "../kit/made";

export function askForWords() {
  const results = document.getElementById("search-results");
  if (!results || new URLSearchParams(location.search).get("q")) return;
  const form = made("form", "nv-search");
  form.setAttribute("role", "search");
  const label = made("label", "", "Search for ");
  const entry = made("input");
  entry.name = "q";
  entry.type = "search";
  label.append(entry);
  form.append(label, made("button", "", "Search"));
  results.before(made("h1", "", "Search"), form);
}
