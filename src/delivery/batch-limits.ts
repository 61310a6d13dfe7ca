/** The limits of one request with several events, and the errors above them. Pure. */
import { HookswitchError } from '../errors.js'

export interface BatchLimits {
  /** Events of one request. */
  readonly maxEventsPerRequest: number
  /** Deliveries that a request with several events makes: for each event, one for each webhook that gets it. */
  readonly maxDeliveriesPerRequest: number
}

/** @throws `TooLarge` for more events than one request may have */
export function checkEventCount(count: number, { maxEventsPerRequest: max }: BatchLimits): void {
  if (count <= max) return
  throw tooLarge(max, 'maxEventsPerRequest', `${count} events are above the limit of ${max} for one request`)
}

/** @returns `TooLarge` */
export function tooManyDeliveries({ maxDeliveriesPerRequest: max }: BatchLimits): HookswitchError {
  const limit = `the limit of ${max} deliveries for one request with several events`
  return tooLarge(max, 'maxDeliveriesPerRequest', `the events and their webhooks are above ${limit}`)
}

/** Characters of different bodies that each delivery may have on average. */
const CHARACTERS_PER_DELIVERY = 4_096

/** Largest number of characters of all different bodies of a request with several events. */
export const maxBodyCharacters = ({ maxDeliveriesPerRequest }: BatchLimits): number =>
  maxDeliveriesPerRequest * CHARACTERS_PER_DELIVERY

/** @returns `TooLarge` */
export function tooLargeBodies(limits: BatchLimits): HookswitchError {
  const max = maxBodyCharacters(limits)
  const limit = `the limit of ${max} characters for one request with several events, ${CHARACTERS_PER_DELIVERY} for each delivery`
  return tooLarge(max, 'maxDeliveriesPerRequest', `the bodies for the webhooks are above ${limit}`, 'maxSize')
}

function tooLarge(
  target: number,
  option: keyof BatchLimits,
  reason: string,
  rule = 'maxItems',
): HookswitchError {
  const message = `${reason} (option ${option})`
  const failures = [{ path: '', rule, message, target }]
  return new HookswitchError('TooLarge', message, { field: option, failures })
}
