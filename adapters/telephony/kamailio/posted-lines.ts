/** What a body of the handler holds. */

/** Most lines of one body. */
export const MOST_LINES = 10_000

/**
 * The lines of a body: one JSON object, a JSON array of them, or NDJSON. A line is its text, or what JSON made of it;
 * their numbers are those of the array, or of the lines that are not empty, from 1.
 */
export function postedLines(body: string): readonly unknown[] {
  const text = body.trim()
  if (text === '') return []
  // One object may be written over several lines; of NDJSON the second line ends this attempt.
  const whole = parsed(text)
  if (whole) return Array.isArray(whole.value) ? whole.value : [whole.value]
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
