/** The open legs of event sources, as a source reads and writes them through an instance. */
import { type Failure, invalidInput } from '../errors.js'
import { MAX_LEG_STATE_BYTES, type OpenLeg, type OpenLegChanges } from '../legs/open-leg-store.js'
import type { Core } from './core.js'

/**
 * Storage for the open legs of event sources. Each source has a name, such as `freeswitch 127.0.0.1:8021`; nodes that
 * listen to one switch share its legs. A leg that no source removes is removed after `retentionDays`.
 */
export interface OpenLegs {
  /**
   * Adds, replaces and removes legs in one transaction. The last write of a leg wins; removing an unknown leg is no error.
   *
   * Rejects with `InvalidInput` naming the field, `StoreUnavailable`, `Closing`.
   */
  write(source: string, changes: OpenLegChanges): Promise<void>
  /**
   * Up to `limit` legs of a source with a call id behind `after`, in the order of call ids.
   *
   * Rejects with `InvalidInput` naming the field, `StoreUnavailable`, `Closing`.
   *
   * @param after the last call id of the previous page; `undefined`: from the start
   */
  list(source: string, after: string | undefined, limit: number): Promise<readonly OpenLeg[]>
}

/** Largest number of changes in one write, and of legs in one page. */
const MAX_LEGS = 10_000
const ID = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** @param core the running instance; throws while there is none */
export function bindOpenLegs(core: () => Core): OpenLegs {
  return {
    async write(source, changes) {
      const { store, accept } = core()
      const failures = [...checkId('source', source), ...checkChanges(changes)]
      if (failures.length > 0) throw invalidInput(failures)
      await store.openLegs.write(source, changes, accept.storeNow())
    },
    async list(source, after, limit) {
      const { store } = core()
      const failures = [...checkId('source', source), ...(after === undefined ? [] : checkId('after', after))]
      if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LEGS) {
        failures.push(failure('limit', `must be a whole number from 1 to ${MAX_LEGS}`))
      }
      if (failures.length > 0) throw invalidInput(failures)
      return store.openLegs.list(source, after, limit)
    },
  }
}

function checkChanges(changes: OpenLegChanges): Failure[] {
  const { put, remove } = (changes ?? {}) as Partial<OpenLegChanges>
  if (!Array.isArray(put)) return [failure('put', 'must be an array')]
  if (!Array.isArray(remove)) return [failure('remove', 'must be an array')]
  if (put.length + remove.length > MAX_LEGS)
    return [failure('put', `must not change more than ${MAX_LEGS} legs`)]
  const failures = [
    ...put.flatMap((leg, index) => checkLeg(`put.${index}`, leg)),
    ...remove.flatMap((callId, index) => checkId(`remove.${index}`, callId)),
  ]
  if (failures.length > 0) return failures
  const ids = new Set<string>([...put.map(({ callId }: OpenLeg) => callId), ...remove])
  if (ids.size < put.length + remove.length) return [failure('put', 'must not name a leg twice')]
  return []
}

function checkLeg(path: string, leg: unknown): Failure[] {
  const { callId, accountId, state } = (leg ?? {}) as Record<string, unknown>
  const failures = [...checkId(`${path}.callId`, callId), ...checkId(`${path}.accountId`, accountId)]
  if (typeof state !== 'string' || Buffer.byteLength(state) > MAX_LEG_STATE_BYTES) {
    failures.push(failure(`${path}.state`, `must be a text of at most ${MAX_LEG_STATE_BYTES} bytes`))
  }
  return failures
}

function checkId(path: string, id: unknown): Failure[] {
  if (typeof id === 'string' && ID.test(id)) return []
  return [failure(path, 'must be 1 to 255 characters without control characters')]
}

function failure(path: string, message: string): Failure {
  return { path, rule: 'error', message }
}
