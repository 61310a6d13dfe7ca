import { backoffMs } from '../../delivery/backoff.js'
import {
  checkPolicy,
  type PolicyFunction,
  type RetryContext,
  type RetryPolicy,
} from '../../delivery/policy.js'
import { HookswitchError } from '../../errors.js'

/** A policy as the host has it: a function, or data as `exponential`, `constant` and `schedule` make it. */
export type AnyPolicy = PolicyFunction | RetryPolicy

/**
 * The policy as data, or as a function that is asked.
 *
 * @throws `InvalidOption` for what is neither
 */
export function checkAnyPolicy(who: string, policy: AnyPolicy): AnyPolicy {
  if (typeof policy === 'function') return policy
  const refuse = (rule: string) =>
    new HookswitchError('InvalidOption', `${who}: policy ${rule}`, { field: 'policy' })
  if (typeof policy !== 'object' || policy === null) throw refuse('must be a function or a policy as data')
  try {
    checkPolicy(policy)
  } catch (thrown) {
    throw refuse(`is none: ${(thrown as Error).message}`)
  }
  if (policy.kind === 'custom') throw refuse(`names '${policy.name}': hand over the function itself`)
  return policy
}

/** What the policy answers: a function whatever it likes, data a number or null. */
export function askerOf(policy: AnyPolicy): (context: RetryContext) => unknown {
  if (typeof policy === 'function') return policy
  return ({ tries, roll, status }) => {
    if (policy.kind === 'custom') return null
    if (policy.retryOn === 'transport' && status !== undefined) return null
    return backoffMs(policy, tries, roll)
  }
}
