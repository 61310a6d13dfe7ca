/** Checks that runs exercise everything the simulator can produce. */

import { NETWORK_EFFECTS } from './fault-catalogue.js'
import { FAULT_KINDS } from './faults.js'

/** What long runs must produce besides faults: attempt results, state transitions, HTTP statuses. */
const REQUIRED = [
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
  ].map((result) => `attempt ${result}`),
  ...['delivered', 'exhausted', 'waiting', 'cancelled', 'quarantined'].map((state) => `in_flight → ${state}`),
  'waiting → cancelled',
  ...['write name done', 'write path done', 'read done', 'read not found', 'remove done'].map(
    (step) => `register ${step}`,
  ),
  'settle settled',
  ...['fenced', 'outdated', 'repeated'].map((result) => `group ${result}`),
  ...['start taken back', 'shards handed over', 'numbers with a gap', 'deliveries polled'],
  'disabled: gone',
  'expired: queue_full',
  ...['replay of a job', 'replay job completed'],
  ...[200, 201, 401, 403, 503].map((status) => `http ${status}`),
]

/**
 * What never occurred although it should (I29): a simulator that no longer exercises the service must fail too.
 *
 * @param coverage summed over the runs
 */
export function findUncovered(coverage: ReadonlyMap<string, number>): readonly string[] {
  return [...FAULT_KINDS, ...NETWORK_EFFECTS, ...REQUIRED].filter((name) => !coverage.get(name))
}
