/** Escapes text for an attribute of HTML in double quotes. Pure. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
}

/** @returns the text with `&`, `"`, `<` and `>` as entities */
export function escapeAttribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => ENTITIES[character]!)
}
