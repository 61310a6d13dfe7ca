/** What a receiver answers until it is told otherwise: at once 200, 500, no answer, or 200 after `SLOW_MS`. */
export type Manner = 'answers' | 'fails' | 'is away' | 'is slow'

/** What the service is asked, as data: the naive service answers it, the real one carries it out, the story tells it. */
export type ServiceCall =
  | {
      readonly do: 'sign in'
      readonly account: string
      readonly by: 'key' | 'password'
      readonly right: boolean
    }
  | { readonly do: 'use' | 'sign out'; readonly token: string }
  | { readonly do: 'rotate the key' | 'set the password'; readonly account: string }
  | { readonly do: 'enable'; readonly account: string; readonly enabled: boolean }
  | {
      readonly do: 'make'
      readonly hook: string
      readonly account: string
      readonly kind: string
      readonly below: boolean
    }
  | {
      readonly do: 'patch'
      readonly hook: string
      readonly change: { readonly enabled?: boolean; readonly name?: string }
      readonly revision: number | undefined
    }
  | { readonly do: 'remove'; readonly hook: string; readonly revision: number | undefined }
  | { readonly do: 'list'; readonly account: string }
  | {
      readonly do: 'publish'
      readonly account: string
      readonly call: string
      readonly kind: string
      readonly key: string | undefined
      readonly event: string
    }
  | { readonly do: 'teach'; readonly hook: string; readonly manner: Manner }

/** Around the service: time, and the ends of the process. */
export type ServiceStep =
  | ServiceCall
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'restart' }
  | { readonly do: 'crash' }

/** How long a slow receiver takes; when a failure is tried again, and how often. */
export const SLOW_MS = 5_000
export const RETRY_MS = 2_000
export const RETRIES = 2
export const TOKEN_TTL_SECONDS = 600

/** A step as a sentence of the story. */
export function serviceWords(step: ServiceStep): string {
  switch (step.do) {
    case 'sign in':
      return `sign in to ${step.account} by ${step.right ? 'its' : 'a former, or wrong,'} ${step.by}`
    case 'use':
      return `use ${step.token}`
    case 'sign out':
      return `sign out ${step.token}`
    case 'rotate the key':
    case 'set the password':
      return `${step.do} of ${step.account}`
    case 'enable':
      return `${step.enabled ? 'enable' : 'disable'} account ${step.account}`
    case 'make':
      return `make webhook ${step.hook} of ${step.account} for ${step.kind}${step.below ? ', accounts below too' : ''}`
    case 'patch': {
      const { enabled, name } = step.change
      const what = enabled === undefined ? `name it ${name}` : enabled ? 'enable it' : 'disable it'
      return `change ${step.hook}, ${revision(step)}: ${what}`
    }
    case 'remove':
      return `remove ${step.hook}, ${revision(step)}`
    case 'list':
      return `list the webhooks of ${step.account}`
    case 'publish':
      return `publish ${step.event} (${step.kind}, call ${step.call} of ${step.account}${step.key ? `, key ${step.key}` : ''})`
    case 'teach':
      return `the receiver of ${step.hook} ${step.manner} from now on`
    case 'pass':
      return `${step.ms} ms pass`
    case 'restart':
      return 'the service closes, and another starts on its store'
    case 'crash':
      return 'the service is dropped, and another starts on its store'
  }
}

const revision = (step: { readonly revision: number | undefined }) =>
  step.revision === undefined ? 'whatever its revision' : `if its revision is ${step.revision}`
