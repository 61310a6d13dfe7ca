/** Splits the body of an HTTP request into lines. */

/** Maximum number of lines in one body. */
export const MAX_HTTP_LINES = 10_000

/**
 * The lines of a body: one JSON object, a JSON array of objects, or NDJSON. A line is its text (NDJSON) or its parsed
 * value. Error responses number the array elements or the non-empty lines, from 1.
 */
export function parseHttpLines(body: string): readonly unknown[] {
  const text = body.trim()
  if (text === '') return []
  // One object may span several lines; NDJSON with more than one line is not valid JSON.
  const whole = tryParse(text)
  if (whole) return Array.isArray(whole.value) ? whole.value : [whole.value]
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
