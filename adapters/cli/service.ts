/** Creates the service from the flags and starts it with its accounts. */
import { createHookswitch, errorCode, type Hookswitch, type HookswitchError, type Log } from 'hookswitch'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import { wrongAccount } from './accounts-file.js'
import type { ServeFlags } from './flags.js'
import { createStore, storeProblem } from './open-store.js'
import { wrongFlag } from './read-flags.js'
import type { StoreChoice } from './store-options.js'
import { handleUnlisted, type UnlistedOptions } from './unlisted-accounts.js'

/** Options of `createHookswitch` and their flags. */
const FLAG_OF: Readonly<Record<string, string>> = {
  tokenTtlSeconds: '--token-ttl',
  allowLocal: '--allow-local',
  trustProxy: '--trust-proxy',
  loginBurst: '--login-burst',
  secret: 'HOOKSWITCH_SECRET',
}

/** The service's log and metrics. */
export interface ServiceOutputs {
  readonly log: Log
  readonly metrics?: PrometheusMetrics
}

/** @throws `InvalidOption` naming the flag, for values that only the service or its store can check */
export async function createService(
  flags: ServeFlags,
  choice: StoreChoice,
  secret: string | undefined,
  outputs: ServiceOutputs,
): Promise<Hookswitch> {
  const { operators, tokenTtlSeconds, preset, loginBurst, allowLocal, ingest } = flags
  const store = await createStore(choice).catch((thrown: unknown) => {
    throw storeProblem(choice, thrown)
  })
  try {
    return createHookswitch({
      store,
      allowLocal,
      ingest,
      ...outputs,
      ...(operators.length > 0 ? { operators } : {}),
      ...(flags.cors.length > 0 ? { cors: flags.cors } : {}),
      ...(flags.allow.length > 0 ? { allow: flags.allow } : {}),
      ...(flags.trustProxy.length > 0 ? { trustProxy: flags.trustProxy } : {}),
      ...(secret === undefined ? {} : { secret }),
      ...(tokenTtlSeconds === undefined ? {} : { tokenTtlSeconds }),
      ...(preset === undefined ? {} : { preset }),
      ...(loginBurst === undefined ? {} : { loginBurst }),
    })
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidOption') throw thrown
    const { field = '', message } = thrown as HookswitchError
    const problem = message.startsWith(field) ? message.slice(field.length).replace(/^:? /, '') : message
    throw wrongFlag(FLAG_OF[field] ?? `--${field}`, problem)
  }
}

/**
 * Opens the store and creates or updates the accounts of the file.
 *
 * @param path the accounts file; empty: none
 * @param options what happens to accounts that the file no longer lists
 * @throws `InvalidInput`, `Conflict` for the file; errors of the store name its flag
 */
export async function startService(
  hs: Hookswitch,
  choice: StoreChoice,
  path: string,
  accounts: readonly unknown[],
  options: UnlistedOptions,
): Promise<void> {
  try {
    await hs.start()
    const ids = await hs.accounts.ensure(accounts as never)
    if (path !== '') await handleUnlisted(hs, ids, options)
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === 'InvalidInput' || code === 'Conflict') throw wrongAccount(path, accounts, thrown as Error)
    throw storeProblem(choice, thrown)
  }
}
