// @ts-check
/** The rules of coming and going. */

/**
 * @typedef {import('./book.js').Book} Book
 * @typedef {import('./oracle.js').Finding} Finding
 */

/**
 * Publishing fails for a reason: here only since the node is closing.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* refusals({ ledger }) {
  for (const { call, index, code, node } of ledger.refusals) {
    if (code === 'Closing' || ledger.excused.has(code)) continue
    yield { rule: 'refused', what: `node ${node} refused ${call}, ${index}: ${code}`, call }
  }
}

/**
 * Nodes start, whatever the one before left behind; those that are asked to end do so, by themselves and in good
 * order; the last one comes to rest.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* ends({ ledger }) {
  for (const { node, reason } of ledger.failures) {
    yield { rule: 'failed', what: `node ${node} failed: ${reason}`, node }
  }
  const killed = new Set(ledger.ends.filter(({ how }) => how === 'killed').map(({ node }) => node))
  for (const { node, how, code } of ledger.ends) {
    if (how !== 'asked' || code === 0 || killed.has(node)) continue
    yield { rule: 'failed', what: `node ${node} was asked to end, and its exit code was ${code}`, node }
  }
  if (ledger.restless) yield { rule: 'restless', ...ledger.restless }
}
