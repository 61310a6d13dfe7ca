/** Reads the configuration again and applies what can change while the service runs. */
import { errorCode, type Hookswitch, type Limits, type Log } from 'hookswitch'
import { accountLimit, type QueueLimits } from 'hookswitch/adapter'
import type { AccountsFile } from './accounts-file.js'
import type { Level } from './log.js'
import {
  type AccountsPreview,
  ensureAccounts,
  previewAccounts,
  type ServicePlan,
  warnOfAccounts,
} from './service.js'
import { SETTING_NAMES, type SettingName, type SettingValues, settingOf } from './settings.js'

/** What a reload reads and changes. */
interface ReloadDeps {
  readonly hs: Hookswitch
  readonly log: Log
  /** Reads and checks all settings, without changing anything. */
  read(): Promise<ServicePlan>
  /** True: the service drains, and nothing is reloaded. */
  isClosing(): boolean
  setLevel(level: Level): void
}

/** What is remembered of the running configuration: of the accounts only whether their file has changed. */
interface RunningPlan extends Pick<ServicePlan, 'settings' | 'options'> {
  readonly accounts: Pick<AccountsFile, 'digest'> | undefined
}

/** What differs between the running configuration and that of the files. */
interface SettingChanges {
  readonly applicable: readonly SettingName[]
  readonly needRestart: readonly SettingName[]
}

/** What a reload would do. */
export interface ReloadPreview {
  /** Settings that it would apply. */
  readonly changed: readonly SettingName[]
  /** Settings that have changed and need a restart. */
  readonly needsRestart: readonly SettingName[]
  readonly accounts: AccountsPreview
}

interface Reloader {
  /** Reloads. Calls run one after the other; none rejects. */
  reload(): Promise<void>
  /** Reads and checks the files again, and changes nothing. @throws why a reload would be refused */
  preview(): Promise<ReloadPreview>
}

/** @param started the configuration with which the service started */
export function createReloader(started: RunningPlan, deps: ReloadDeps): Reloader {
  let running = remembered(started)
  let level = started.settings.values.logLevel ?? 'info'
  let last = Promise.resolve()

  async function reload(): Promise<void> {
    if (deps.isClosing()) return
    try {
      const next = await deps.read()
      const { applicable, needRestart } = changesBetween(running, next)
      if (applicable.includes('accounts')) {
        await ensureAccounts(deps.hs, withRunningSettings(next), deps.log)
        await warnOfAccounts(deps.hs, running.settings, deps.log)
      }
      deps.hs.setLimits(limitsOf(next.settings.values))
      running = applied(running, next)
      // An entry that either level admits is written.
      const before = level
      level = next.settings.values.logLevel ?? 'info'
      if (SEVERITY.indexOf(level) < SEVERITY.indexOf(before)) deps.setLevel(level)
      deps.log.info({ changed: applicable, needsRestart: needRestart }, sentenceOf(applicable, needRestart))
      deps.setLevel(level)
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown)
      const code = errorCode(thrown)
      deps.log.error({ reason, ...(code && { code }) }, 'configuration not reloaded')
    }
  }

  /** `--accounts-prune` needs a restart. */
  function withRunningSettings({ accounts }: ServicePlan): Pick<ServicePlan, 'accounts' | 'settings'> {
    return { accounts, settings: running.settings }
  }

  return {
    reload() {
      last = last.then(reload)
      return last
    },
    async preview() {
      const next = await deps.read()
      const { applicable, needRestart } = changesBetween(running, next)
      const accounts = await previewAccounts(deps.hs, withRunningSettings(next))
      return { changed: applicable, needsRestart: needRestart, accounts }
    },
  }
}

const SEVERITY: readonly Level[] = ['debug', 'info', 'warn', 'error']

function sentenceOf(applicable: readonly string[], needRestart: readonly string[]): string {
  if (applicable.length + needRestart.length === 0) return 'configuration reloaded: nothing has changed'
  const changed = applicable.length === 0 ? [] : [`changed: ${applicable.join(', ')}`]
  const waiting = needRestart.length === 0 ? [] : [`needs a restart: ${needRestart.join(', ')}`]
  return `configuration reloaded, ${[...changed, ...waiting].join('; ')}`
}

/** Compares the values, and the contents of the files that they name. */
function changesBetween(running: RunningPlan, next: RunningPlan): SettingChanges {
  const isChanged = (name: SettingName) =>
    isDifferent(running.settings.values[name], next.settings.values[name]) ||
    isFileChanged(name, running, next)
  const changed = SETTING_NAMES.filter((name) => name !== 'config' && isChanged(name))
  return {
    applicable: changed.filter((name) => settingOf(name).reloadable),
    needRestart: changed.filter((name) => !settingOf(name).reloadable),
  }
}

function isFileChanged(name: SettingName, running: RunningPlan, next: RunningPlan): boolean {
  switch (name) {
    case 'accounts':
      return running.accounts?.digest !== next.accounts?.digest
    case 'tls.caFile':
      return isDifferent(running.options.tls?.ca, next.options.tls?.ca)
    case 'tls.certFile':
      return isDifferent(running.options.tls?.cert, next.options.tls?.cert)
    case 'tls.keyFile':
      return isDifferent(running.options.tls?.key, next.options.tls?.key)
    default:
      return false
  }
}

const isDifferent = (first: unknown, second: unknown) => JSON.stringify(first) !== JSON.stringify(second)

/** Without the content of the accounts file. */
function remembered({ settings, options, accounts }: RunningPlan): RunningPlan {
  return { settings, options, accounts: accounts && { digest: accounts.digest } }
}

/** The running configuration after a reload: settings that need a restart keep their values. */
function applied(running: RunningPlan, next: RunningPlan): RunningPlan {
  const { values } = running.settings
  const reloaded = SETTING_NAMES.filter((name) => settingOf(name).reloadable)
  const changed = Object.fromEntries(reloaded.map((name) => [name, next.settings.values[name]]))
  return {
    ...remembered({ ...running, accounts: next.accounts }),
    settings: { ...running.settings, values: { ...values, ...changed } },
  }
}

/** The limits of the settings, as `setLimits` takes them. @internal */
export function limitsOf(values: SettingValues): Limits {
  const { loginBurst, replayBurst } = values
  const isLimit = (name: SettingName) => settingOf(name).reloadable && settingOf(name).default !== undefined
  const limits = SETTING_NAMES.filter((name) => isLimit(name) && name !== 'logLevel')
  const numberOf = (burst: number | 'unlimited' | undefined) =>
    burst === 'unlimited' ? Number.POSITIVE_INFINITY : burst
  return {
    ...Object.fromEntries(limits.map((name) => [name, values[name]])),
    maxPendingPerAccount: accountLimit(values as QueueLimits),
    loginBurst: numberOf(loginBurst),
    replayBurst: numberOf(replayBurst),
  } as Limits
}
