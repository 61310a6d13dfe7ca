/** The steps of the service model as data: the driver executes them, the reference predicts them, the trace formats them. */

/** A receiver's behaviour: responds at once with 200 or 500, cannot be reached, or responds with 200 after `SLOW_MS`. */
export type Behaviour = 'succeeds' | 'rejects' | 'is unreachable' | 'is slow'

/** A call of the service's API, or a change of a receiver. */
export type ServiceCall =
  | {
      readonly do: 'sign in'
      readonly account: string
      readonly by: 'key' | 'password'
      readonly isValid: boolean
    }
  | { readonly do: 'use' | 'sign out'; readonly token: string }
  | { readonly do: 'rotate the key' | 'set the password'; readonly account: string }
  | { readonly do: 'enable'; readonly account: string; readonly enabled: boolean }
  | {
      readonly do: 'create'
      readonly webhook: string
      readonly account: string
      readonly hook: string
      readonly includeSubaccounts: boolean
    }
  | {
      readonly do: 'patch'
      readonly webhook: string
      readonly change: { readonly enabled?: boolean; readonly name?: string }
      readonly revision: number | undefined
    }
  | { readonly do: 'remove'; readonly webhook: string; readonly revision: number | undefined }
  | { readonly do: 'list'; readonly account: string }
  | {
      readonly do: 'publish'
      readonly account: string
      readonly call: string
      readonly hook: string
      readonly key: string | undefined
      readonly event: string
    }
  | { readonly do: 'change receiver'; readonly webhook: string; readonly behaviour: Behaviour }

/** A call, time passing, or the end of the process. */
export type ServiceStep =
  | ServiceCall
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'restart' }
  | { readonly do: 'crash' }

/** How long a slow receiver takes. */
export const SLOW_MS = 5_000
/** Delay of retries, and how many follow a rejection. */
export const RETRY_MS = 2_000
export const RETRIES = 2
export const TOKEN_TTL_SECONDS = 600

/** Formats a step as a sentence of the trace. */
export function formatStep(step: ServiceStep): string {
  switch (step.do) {
    case 'sign in':
      return `sign in to ${step.account} by ${step.isValid ? 'its' : 'a former or wrong'} ${step.by}`
    case 'use':
      return `use ${step.token}`
    case 'sign out':
      return `sign out ${step.token}`
    case 'rotate the key':
    case 'set the password':
      return `${step.do} of ${step.account}`
    case 'enable':
      return `${step.enabled ? 'enable' : 'disable'} account ${step.account}`
    case 'create':
      return `create webhook ${step.webhook} of ${step.account} for ${step.hook}${step.includeSubaccounts ? ', including subaccounts' : ''}`
    case 'patch': {
      const { enabled, name } = step.change
      const change = enabled === undefined ? `rename to ${name}` : enabled ? 'enable' : 'disable'
      return `change ${step.webhook}, ${formatCondition(step)}: ${change}`
    }
    case 'remove':
      return `remove ${step.webhook}, ${formatCondition(step)}`
    case 'list':
      return `list the webhooks of ${step.account}`
    case 'publish':
      return `publish ${step.event} (${step.hook}, call ${step.call} of ${step.account}${step.key ? `, key ${step.key}` : ''})`
    case 'change receiver':
      return `the receiver of ${step.webhook} ${step.behaviour} from now on`
    case 'advance':
      return `${step.ms} ms pass`
    case 'restart':
      return 'the service closes, another starts on its store'
    case 'crash':
      return 'the service crashes, another starts on its store'
  }
}

const formatCondition = (step: { readonly revision: number | undefined }) =>
  step.revision === undefined ? 'at any revision' : `if its revision is ${step.revision}`
