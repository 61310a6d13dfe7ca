/** Retry policies as the test kit accepts them: functions, and data. */

import type { PolicyFunction, RetryPolicy } from 'hookswitch'
import { backoffMs } from '../../delivery/backoff.js'
import { checkPolicy, type RetryContext } from '../../delivery/policy.js'
import { badOption } from '../check-options.js'

/** A retry policy of the host: a function, or data from `exponential`, `constant` or `schedule`. */
export type AnyPolicy = PolicyFunction | RetryPolicy

/**
 * Validates a policy and returns it.
 *
 * @param functionName names the caller in the error message
 * @throws `InvalidOption` if it is neither a function nor valid data, or `custom` data
 */
export function checkAnyPolicy(functionName: string, policy: AnyPolicy): AnyPolicy {
  if (typeof policy === 'function') return policy
  const invalid = (rule: string) => badOption(functionName, 'policy', rule)
  if (typeof policy !== 'object' || policy === null) throw invalid('must be a function or policy data')
  try {
    checkPolicy(policy)
  } catch (thrown) {
    throw invalid(`is invalid: ${(thrown as Error).message}`)
  }
  if (policy.kind === 'custom') throw invalid(`refers to '${policy.name}': pass the function itself`)
  return policy
}

/** Converts a policy into a function. A host's function may return anything; data returns a number or null. */
export function toFunction(policy: AnyPolicy): (context: RetryContext) => unknown {
  if (typeof policy === 'function') return policy
  return ({ tries, random, status }) => {
    if (policy.kind === 'custom') return null
    if (policy.retryOn === 'transport' && status !== undefined) return null
    return backoffMs(policy, tries, random)
  }
}
