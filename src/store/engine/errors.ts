import { HookswitchError } from '../../errors.js'

/** The refusals of stores, worded once for all of them. `notFound` of `errors` is for unknown events and webhooks. */

/**
 * Another event was accepted with this idempotency key.
 *
 * @param index of the event in its list; default: it is the only one
 */
export function idempotencyConflict(index?: number): HookswitchError {
  return new HookswitchError('Conflict', 'this idempotency key was used for another event', {
    field: index === undefined ? 'idempotencyKey' : `events[${index}].idempotencyKey`,
  })
}

/** The id of an event or delivery, or the position of a delivery, is in use. */
export function idConflict(id: string): HookswitchError {
  return new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
}

/** An inbox entry is gone: another node has relayed it, or it was erased. */
export function inboxConflict(): HookswitchError {
  return new HookswitchError('Conflict', 'an inbox entry was relayed already', { field: 'inboxIds' })
}

/**
 * Refuses a change that was made for another revision of the stored document.
 *
 * @throws HookswitchError `RevisionConflict` if another revision than the expected one is stored
 */
export function assertRevision(id: string, stored: number, expected: number | undefined): void {
  if (expected === undefined || expected === stored) return
  throw new HookswitchError('RevisionConflict', `${id} was changed concurrently`, { id })
}
