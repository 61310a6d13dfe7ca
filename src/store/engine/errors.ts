import { HookswitchError } from '../../errors.js'

/** The refusals of an acceptance, worded once for all stores. `notFound` of `errors` is for unknown events and webhooks. */

/** Another event was accepted with this idempotency key. */
export function idempotencyConflict(): HookswitchError {
  return new HookswitchError('Conflict', 'this idempotency key was used for another event', {
    field: 'idempotencyKey',
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
