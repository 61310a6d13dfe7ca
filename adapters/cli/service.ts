/** Checks the settings as a whole, creates the service from them and starts it with its accounts. */
import { createHookswitch, errorCode, type Hookswitch, type Log } from 'hookswitch'
import { closestName, type HttpService } from 'hookswitch/adapter'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import { type AccountsFile, readAccountsFile } from './accounts-file.js'
import { whileFilling } from './memory-flag.js'
import { createStore, storeProblem } from './open-store.js'
import { createPage } from './page.js'
import { collectProblems } from './problems.js'
import { type Settings, wrongSetting } from './read-settings.js'
import { checkSecret } from './secret.js'
import type { Environment } from './secret-variables.js'
import { checkServiceOptions, optionProblem, type ServiceOptions, serviceOptions } from './service-options.js'
import type { SettingName } from './settings.js'
import { chooseStore, type StoreChoice } from './store-options.js'
import type { SwitchChoice } from './switch-choice.js'
import { chooseSwitches } from './switch-options.js'
import { findUnlisted, handleUnlisted } from './unlisted-accounts.js'

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
 * left to `createService`, or to `checkSettings` where no service is created.
 *
 * @throws `InvalidOption` naming each setting that is wrong; `InvalidInput`, `Conflict` for the accounts file alone
 */
export async function planService(settings: Settings, env: Environment): Promise<ServicePlan> {
  return plan(settings, env, {})
}

/** Checks the settings as a whole, with what only `createHookswitch` can check. @throws as `planService` */
export async function checkSettings(settings: Settings, env: Environment): Promise<ServicePlan> {
  return plan(settings, env, { isThorough: true })
}

/** Checks the settings of a file alone: without passwords and secrets of the environment. @throws as `planService` */
export async function checkFileSettings(settings: Settings): Promise<void> {
  await plan(settings, {}, { isThorough: true, isFileAlone: true })
}

/** How thoroughly settings are checked. */
interface Thoroughness {
  /** Also checks what `createHookswitch` checks. */
  readonly isThorough?: boolean
  /** Requires no password and no secret, which may be in the environment. */
  readonly isFileAlone?: boolean
}

const STORE_SETTINGS = ['data', 'postgres', 'memory', 'schema'] as const
const SWITCH_SETTINGS = [
  'freeswitch',
  'freeswitchOutbound',
  'asteriskAmi',
  'asteriskAri',
  'kamailio',
  'accountFrom',
  'freeswitchPassword',
  'amiSecret',
  'ariPassword',
] as const
const PORT_SETTINGS = ['port', 'host', 'adminPort', 'adminHost', 'blackhole.port'] as const

/** Reports everything that is wrong at once. What depends on a wrong setting is not checked. */
async function plan(
  settings: Settings,
  env: Environment,
  { isThorough = false, isFileAlone = false }: Thoroughness,
): Promise<ServicePlan> {
  const problems = collectProblems()
  problems.add(settings.problems)
  const check = async <T>(names: readonly SettingName[], work: () => T | Promise<T>) =>
    settings.isWrong(...names) ? undefined : problems.attempt(work)
  const choice = await check(STORE_SETTINGS, () => chooseStore(settings))
  const switches = await check(SWITCH_SETTINGS, () => chooseSwitches(settings, env, !isFileAlone))
  if (!settings.isWrong(...PORT_SETTINGS)) problems.add(portProblems(settings))
  if (choice && !isFileAlone) await check(['secret'], () => checkSecret(settings, choice))
  const { accounts: path } = settings.values
  const accounts =
    path === undefined
      ? undefined
      : await problems.attempt(() => whileFilling(() => readAccountsFile(path, settings.labelOf('accounts'))))
  const page = await problems.attempt(() => createPage(settings))
  const options = await serviceOptions(settings, problems)
  // `createService` checks the options of a service whose settings are right otherwise.
  if (isThorough || problems.errors.length > 0) await checkServiceOptions(settings, options, problems)
  problems.throwAny()
  return { settings, choice: choice!, options, switches: switches!, accounts, page }
}

function portProblems(settings: Settings): readonly Error[] {
  const { host, adminHost } = settings.values
  const differ = (name: PortSetting, other: PortSetting) => {
    const port = settings.values[name]
    const isSame = port !== undefined && port !== 0 && port === settings.values[other]
    return isSame ? [wrongSetting(settings, name, `must differ from ${settings.nameOf(other)}`)] : []
  }
  return [
    ...(host === adminHost ? differ('adminPort', 'port') : []),
    ...differ('blackhole.port', 'port'),
    ...(host === adminHost ? differ('blackhole.port', 'adminPort') : []),
  ]
}

type PortSetting = 'port' | 'adminPort' | 'blackhole.port'

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
 * Creates or updates the accounts of the file, if there is one, all or none, and handles those that it listed once.
 *
 * @throws `InvalidInput`, `Conflict` naming the file and the account; errors of the store
 */
export async function ensureAccounts(
  hs: Hookswitch,
  { accounts: file, settings }: Pick<ServicePlan, 'accounts' | 'settings'>,
  log: Log,
): Promise<void> {
  if (!file) return
  const unlisted = await findUnlisted(hs.accounts, file, settings)
  await whileFilling(() => hs.accounts.ensure(file.accounts as never)).catch(describedBy(file))
  await handleUnlisted(hs.accounts, unlisted, log)
}

/** What `ensureAccounts` would do: accounts by id, or by realm where the file gives none. */
export interface AccountsPreview {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** No longer in the file, and kept. */
  readonly unlisted: readonly string[]
}

/** @throws as `ensureAccounts` */
export async function previewAccounts(
  hs: Hookswitch,
  { accounts: file, settings }: Pick<ServicePlan, 'accounts' | 'settings'>,
): Promise<AccountsPreview> {
  if (!file) return { created: [], changed: [], removed: [], unlisted: [] }
  const { ids, isPruned } = await findUnlisted(hs.accounts, file, settings)
  const preview = await hs.accounts.previewEnsure(file.accounts as never).catch(describedBy(file))
  const name = (index: number) => {
    const { id, realm } = file.accounts[index] as { readonly id?: string; readonly realm: string }
    return id ?? realm
  }
  return {
    created: preview.created.map(name),
    changed: preview.changed.map(name),
    removed: isPruned ? ids : [],
    unlisted: isPruned ? [] : ids,
  }
}

/** Makes an error about an account name the file and the place. */
function describedBy(file: AccountsFile): (thrown: unknown) => never {
  return (thrown) => {
    const code = errorCode(thrown)
    throw code === 'InvalidInput' || code === 'Conflict' ? file.describe(thrown as Error) : thrown
  }
}

/** Warns of operators that do not exist, and where nobody can log in. */
export async function warnOfAccounts(
  { accounts }: Hookswitch,
  { values, nameOf }: Settings,
  log: Log,
): Promise<void> {
  const ids = (await accounts.list()).map(({ id }) => id)
  if (ids.length === 0) {
    log.warn({}, 'there is no account, so that nobody can log in: --accounts names a file with the first one')
    return
  }
  const known = new Set(ids)
  for (const operator of values.operators ?? []) {
    if (known.has(operator)) continue
    const closest = closestName(operator, ids)
    const hint = closest === undefined ? '' : ` (did you mean '${closest}'?)`
    log.warn({ operator }, `${nameOf('operators')}: there is no account '${operator}'${hint}`)
  }
}
