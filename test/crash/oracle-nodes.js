// @ts-check
/** Rules about nodes: they accept events, start and end. */

/**
 * @typedef {import('./tracked-state.js').TrackedState} TrackedState
 * @typedef {import('./oracle.js').Violation} Violation
 */

/**
 * Publishing fails only because the node is closing, or with a code that the run expects.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkRefusals({ history }) {
  for (const { call, index, code, node } of history.refusals) {
    if (code === 'Closing' || history.expectedRefusals.has(code)) continue
    yield { rule: 'refused', what: `node ${node} refused ${call}, ${index}: ${code}`, call, node }
  }
}

/**
 * Nodes start, whatever the previous one left behind. A terminated node exits by itself with code 0. The last node becomes
 * idle.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkNodes({ history }) {
  for (const { node, reason } of history.failures) {
    yield { rule: 'failed', what: `node ${node} failed: ${reason}`, node }
  }
  const killed = new Set(history.stops.filter(({ how }) => how === 'killed').map(({ node }) => node))
  for (const { node, how, code } of history.stops) {
    if (how !== 'terminated' || code === 0 || killed.has(node)) continue
    yield { rule: 'failed', what: `node ${node} was terminated, and its exit code was ${code}`, node }
  }
  if (history.notIdle) yield { rule: 'not idle', ...history.notIdle }
}
