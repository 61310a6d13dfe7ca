/** Warnings about fields that are probably misspelt. Unknown fields are accepted (KAZOO), so they are never errors. */
import { editDistance } from '../values/closest-name.js'
import { SETTING_NAMES } from './field-names.js'

/** A field that the service does not know, and the one that was probably meant. */
export interface FieldWarning {
  /** The field as sent. */
  readonly path: string
  readonly message: string
  /** The known field. */
  readonly target: string
}

const KNOWN = Object.keys(SETTING_NAMES)
const MAX_DISTANCE = 2
const MIN_LENGTH = 3
const MAX_LENGTH = Math.max(...KNOWN.map((name) => name.length)) + MAX_DISTANCE
/** A document may have thousands of own fields. */
const MAX_FIELDS = 100

/** Finds fields of a webhook that differ from a known one, which is absent, in one or two letters. */
export function findMisspeltFields(
  extra: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): readonly FieldWarning[] {
  const absent = KNOWN.filter((name) => !Object.hasOwn(given, name))
  return Object.keys(extra)
    .slice(0, MAX_FIELDS)
    .flatMap((path) => {
      const target = path.length <= MAX_LENGTH ? closest(path.toLowerCase(), absent) : undefined
      if (target === undefined) return []
      return [
        { path, message: `This field is unknown and was stored as it is; did you mean ${target}?`, target },
      ]
    })
}

function closest(name: string, candidates: readonly string[]): string | undefined {
  // A short name is two letters away from too many others.
  if (name.length < MIN_LENGTH) return undefined
  const limit = name.length <= 4 ? 1 : MAX_DISTANCE
  let smallest = limit + 1
  let found: string | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= smallest) continue
    const distance = editDistance(name, candidate)
    if (distance >= smallest) continue
    smallest = distance
    found = candidate
  }
  return found
}
