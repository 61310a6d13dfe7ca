import { NETWORK_FATES } from './fates.js'
import { FAULT_KINDS } from './faults.js'

/** What a long run must have met, besides faults: ends, failures, transitions, answers. */
const MUST_HAPPEN = [
  ...[
    'success',
    'failure',
    'interrupted',
    'timeout',
    'connection',
    'dns',
    'blocked_address',
    'tls',
    'protocol',
    'redirect',
    'own_fault',
  ].map((how) => `attempt ${how}`),
  ...['delivered', 'exhausted', 'waiting', 'cancelled', 'quarantined'].map((state) => `in_flight → ${state}`),
  'waiting → cancelled',
  ...['write name done', 'write path done', 'read done', 'read gone', 'remove done'].map(
    (how) => `register ${how}`,
  ),
  'settle settled',
  'settle fenced',
  'disabled: gone',
  ...[200, 201, 401, 403, 503].map((status) => `http ${status}`),
]

/** What never happened in these runs although it should: a simulator that no longer simulates is red too (I29). */
export function uncovered(coverage: ReadonlyMap<string, number>): readonly string[] {
  return [...FAULT_KINDS, ...NETWORK_FATES, ...MUST_HAPPEN].filter((what) => !coverage.get(what))
}
