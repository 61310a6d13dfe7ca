/** Checks the settings as a whole, creates the service from them and starts it with its accounts. */
import { createHookswitch, errorCode, type Hookswitch, type Log } from 'hookswitch'
import type { HttpService } from 'hookswitch/adapter'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import { type AccountsFile, readAccountsFile } from './accounts-file.js'
import { whileFilling } from './memory-flag.js'
import { createStore, storeProblem } from './open-store.js'
import { createPage } from './page.js'
import { type Settings, wrongSetting } from './read-settings.js'
import { checkSecret } from './secret.js'
import { checkServiceOptions, optionProblem, type ServiceOptions, serviceOptions } from './service-options.js'
import { chooseStore, type StoreChoice } from './store-options.js'
import type { SwitchChoice } from './switch-choice.js'
import { chooseSwitches } from './switch-options.js'
import { handleUnlisted, readListed } from './unlisted-accounts.js'

type Environment = Readonly<Record<string, string | undefined>>

/** Everything that the settings determine, before anything is opened. */
export interface ServicePlan {
  readonly settings: Settings
  readonly choice: StoreChoice
  readonly options: ServiceOptions
  readonly switches: readonly SwitchChoice[]
  /** Absent without the setting `accounts`. */
  readonly accounts: AccountsFile | undefined
  /** Absent with the setting `portal: false`. */
  readonly page: HttpService | undefined
}

/**
 * Checks the settings and the files that they name. Opens and changes nothing. What only `createHookswitch` can check is
 * left to `createService`, or to `checkServiceOptions` where no service is created.
 *
 * @throws `InvalidOption` naming the setting; `InvalidInput`, `Conflict` for the accounts file
 */
export async function planService(settings: Settings, env: Environment): Promise<ServicePlan> {
  const choice = chooseStore(settings)
  const switches = chooseSwitches(settings, env)
  checkPorts(settings)
  await checkSecret(settings, choice)
  return { ...(await readNamedFiles(settings)), choice, switches, settings }
}

/** Checks the settings of a file alone: without passwords and secrets of the environment. */
export async function checkFileSettings(settings: Settings): Promise<void> {
  chooseStore(settings)
  chooseSwitches(settings, {}, false)
  checkPorts(settings)
  const { options } = await readNamedFiles(settings)
  await checkServiceOptions(settings, options)
}

async function readNamedFiles(
  settings: Settings,
): Promise<Pick<ServicePlan, 'options' | 'accounts' | 'page'>> {
  const options = await serviceOptions(settings)
  const { accounts: path } = settings.values
  const accounts =
    path === undefined
      ? undefined
      : await whileFilling(() => readAccountsFile(path, settings.labelOf('accounts')))
  return { options, accounts, page: createPage(settings) }
}

function checkPorts(settings: Settings): void {
  const { port, host, adminPort, adminHost, 'blackhole.port': blackholePort } = settings.values
  const isSame = (first: number | undefined, second: number | undefined) => first !== 0 && first === second
  if (adminPort !== undefined && isSame(adminPort, port) && host === adminHost)
    throw wrongSetting(settings, 'adminPort', `must differ from ${settings.nameOf('port')}`)
  if (blackholePort === undefined) return
  if (isSame(blackholePort, port))
    throw wrongSetting(settings, 'blackhole.port', `must differ from ${settings.nameOf('port')}`)
  if (isSame(blackholePort, adminPort) && host === adminHost)
    throw wrongSetting(settings, 'blackhole.port', `must differ from ${settings.nameOf('adminPort')}`)
}

/** The service's log and metrics. */
interface ServiceOutputs {
  readonly log: Log
  readonly metrics?: PrometheusMetrics
}

/** @throws `InvalidOption` naming the setting, for values that only the service or its store can check */
export async function createService(
  { settings, choice, options }: ServicePlan,
  outputs: ServiceOutputs,
): Promise<Hookswitch> {
  const store = await createStore(choice).catch((thrown: unknown) => {
    throw storeProblem(settings, choice, thrown)
  })
  try {
    return createHookswitch({ ...options, ...outputs, store })
  } catch (thrown) {
    throw optionProblem(settings, thrown)
  }
}

/**
 * Opens the store and creates or updates the accounts of the file.
 *
 * @throws `InvalidInput`, `Conflict` for the file; errors of the store name its setting
 */
export async function startService(hs: Hookswitch, plan: ServicePlan, log: Log): Promise<void> {
  try {
    await hs.start()
    await ensureAccounts(hs, plan, log)
  } catch (thrown) {
    const { field = '' } = thrown as { field?: string }
    // The schemas of hooks are compiled by the start. All other errors of options are those of the store.
    if (/^hooks\b/.test(field)) throw optionProblem(plan.settings, thrown)
    throw storeProblem(plan.settings, plan.choice, thrown)
  }
}

/**
 * Creates or updates the accounts of the file, if there is one, and handles those that it listed once.
 *
 * @throws `InvalidInput`, `Conflict` naming the file and the account; errors of the store
 */
export async function ensureAccounts(
  hs: Hookswitch,
  { accounts: file, settings }: Pick<ServicePlan, 'accounts' | 'settings'>,
  log: Log,
): Promise<void> {
  if (!file) return
  // Read first, when the accounts of a first start are not there yet.
  const listedBefore = await readListed(hs)
  let ids: readonly string[]
  try {
    ids = await whileFilling(() => hs.accounts.ensure(file.accounts as never))
  } catch (thrown) {
    const code = errorCode(thrown)
    throw code === 'InvalidInput' || code === 'Conflict' ? file.describe(thrown as Error) : thrown
  }
  const listed = new Set(ids)
  const unlisted = listedBefore.filter((id) => !listed.has(id))
  await handleUnlisted(hs, unlisted, { prune: settings.values.accountsPrune ?? false, log })
}
