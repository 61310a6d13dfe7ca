/** The stored form of an open leg: a JSON document of bounded size. Pure. */
import type { OpenLeg } from 'hookswitch/adapter'

/** Values that a mapping saves: JSON, where `undefined` is left out. */
export type SavedValues = Readonly<Record<string, unknown>>

/** An open leg as a mapping saves it, to continue it after a restart. */
export interface SavedLeg {
  /** Id of its account. */
  readonly accountId: string
  /** Its identity, times and progress: what idempotency keys and durations of later events are made of. */
  readonly leg: SavedValues
  /** Names, numbers and addresses of its events. */
  readonly parties: SavedValues
  /** Custom channel and application variables of its events. */
  readonly variables: SavedValues
}

/** Largest document that `hs.openLegs` takes, bytes. */
const MAX_BYTES = 4_096
/** Raised when a later version can no longer read the documents of this one. */
const FORMAT = 1

/**
 * Returns the leg as a document. Where it is too long, the variables are left out, then the parties; `undefined`: even
 * then it is too long.
 */
export function encodeLeg(
  callId: string,
  { accountId, leg, parties, variables }: SavedLeg,
): OpenLeg | undefined {
  for (const parts of [{ parties, variables }, { parties }, {}]) {
    const state = JSON.stringify({ format: FORMAT, leg, ...parts })
    if (Buffer.byteLength(state) <= MAX_BYTES) return { callId, accountId, state }
  }
  return undefined
}

/** Reads a document; `undefined`: it was not written by `encodeLeg` of this version. */
export function decodeLeg({ accountId, state }: OpenLeg): SavedLeg | undefined {
  let document: Partial<Record<string, unknown>> | null
  try {
    document = JSON.parse(state) as typeof document
  } catch {
    return undefined
  }
  if (document?.format !== FORMAT) return undefined
  const { leg, parties = {}, variables = {} } = document
  if (!isObject(leg) || !isObject(parties) || !isObject(variables)) return undefined
  return { accountId, leg, parties, variables }
}

/**
 * Whether a later version wrote the document: a node of that version still needs it, for instance while nodes are upgraded
 * one after the other.
 */
export function isOfLaterVersion({ state }: OpenLeg): boolean {
  try {
    const { format } = JSON.parse(state) as { readonly format?: unknown }
    return typeof format === 'number' && format > FORMAT
  } catch {
    return false
  }
}

function isObject(value: unknown): value is SavedValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads saved values, which another program may have changed: a value of another type is absent. */
export function readSaved(values: SavedValues) {
  const find = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined)
  return {
    text(name: string): string | undefined {
      const value = find(name)
      return typeof value === 'string' ? value : undefined
    },
    number(name: string): number | undefined {
      const value = find(name)
      return typeof value === 'number' ? value : undefined
    },
    flag: (name: string): boolean => find(name) === true,
  }
}
