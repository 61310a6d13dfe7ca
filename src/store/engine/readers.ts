/** How readers see stored deliveries. */

/**
 * `Delivery.dueMs` of a waiting delivery: only the head of a lane has one, and a first attempt is due since its acceptance.
 *
 * @param storedDueMs time of its next retry, store time, ms; 0: it has none
 * @param ahead number of deliveries of its lane that must end first; 0 where only the queue knows it
 */
export function dueMsForReaders(storedDueMs: number, acceptedMs: number, ahead: number): number | undefined {
  if (ahead > 0) return undefined
  return storedDueMs > 0 ? storedDueMs : acceptedMs
}
