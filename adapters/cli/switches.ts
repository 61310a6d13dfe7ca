/** Creates the event sources for the chosen switches. */
import { readFile } from 'node:fs/promises'
import type { Clock, Hookswitch, Log } from 'hookswitch'
import * as asterisk from 'hookswitch/asterisk'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import type { AccountFrom, RealmFrom } from './account-from.js'
import { type AccountLookup, accountLookup } from './account-lookup.js'
import type { SourceHealth } from './admin.js'
import { listenProblem } from './listen.js'
import { wrongFlag } from './read-flags.js'
import type { AmiChoice, OutboundChoice, SwitchChoice } from './switch-choice.js'

/** The sources of the service. */
export interface Switches {
  /**
   * Connects the sources, and listens for switches that connect themselves.
   *
   * @throws `Conflict`, `InvalidOption` naming the flag whose address cannot be listened on
   */
  start(): Promise<void>
  /** The state of each source, for `/readyz`. */
  health(): readonly SourceHealth[]
  /** Closes the sources; call it before the service closes, so that received events are published. */
  close(drainMs: number): Promise<void>
}

/** The log and the metrics of the service. */
interface SwitchOutputs {
  readonly log: Log
  readonly metrics?: PrometheusMetrics | undefined
}

/**
 * @param hs a started instance; its accounts are read
 * @throws `InvalidOption` naming the flag, for a file that cannot be read
 */
export async function connectSwitches(
  hs: Hookswitch,
  switches: readonly SwitchChoice[],
  { log, metrics }: SwitchOutputs,
): Promise<Switches> {
  const accounts = await accountLookup(hs.accounts.list, log)
  const { publish, openLegs, clock } = hs
  const deps: SourceDeps = { publish, clock, log, ...(metrics ? { metrics } : {}) }
  const sources = await Promise.all(switches.map((choice) => sourceOf(choice, accounts, deps, openLegs)))
  return {
    async start() {
      // All of them, so that a close after a failure finds no listener that is still being opened.
      const results = await Promise.allSettled(sources.map((source) => source.start()))
      const failed = results.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
    health: () =>
      sources.map(({ status }) => {
        const { peer, isConnected, disconnectReason, lagMs, held } = status()
        const reason = isConnected ? undefined : (disconnectReason ?? 'not connected yet')
        return {
          source: peer,
          connected: isConnected,
          ...(reason !== undefined && { reason }),
          ...(lagMs >= 1_000 && { lagSeconds: Math.round(lagMs / 1_000) }),
          ...(held > 0 && { held }),
        }
      }),
    async close(drainMs) {
      await Promise.all(sources.map((source) => source.close({ drainMs })))
    },
  }
}

interface SourceDeps {
  readonly publish: Hookswitch['publish']
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: PrometheusMetrics
}

/** A source of any kind. */
interface Source {
  start(): Promise<void>
  status(): freeswitch.SourceStatus
  close(options: { readonly drainMs: number }): Promise<void>
}

async function sourceOf(
  choice: SwitchChoice,
  accounts: AccountLookup,
  deps: SourceDeps,
  openLegs: Hookswitch['openLegs'],
): Promise<Source> {
  const { kind, accountFrom } = choice
  switch (kind) {
    case 'freeswitch': {
      const accountOf = freeswitchAccount(accountFrom, accounts)
      return connecting(freeswitch.freeswitchSource({ ...deps, ...choice.options, openLegs, accountOf }))
    }
    case 'freeswitch-outbound':
      return listening(choice, freeswitchAccount(accountFrom, accounts), deps)
    case 'asterisk-ami': {
      const legOptions = asteriskLegOptions(choice, accounts)
      const tls = await amiTls(choice)
      return connecting(asterisk.asteriskAmi({ ...deps, ...choice.options, ...legOptions, openLegs, tls }))
    }
    case 'asterisk-ari': {
      const legOptions = asteriskLegOptions(choice, accounts)
      return connecting(asterisk.asteriskAri({ ...deps, ...choice.options, ...legOptions, openLegs }))
    }
    case 'kamailio': {
      const accountOf = accounts.by('realm', kamailio.accountByDomain)
      return connecting(kamailio.kamailioSource({ ...deps, ...choice.options, accountOf }))
    }
  }
}

/** A source that connects to its switch. */
function connecting(source: freeswitch.SwitchSource): Source {
  return { start: async () => source.start(), status: source.status, close: source.close }
}

/** A source that its switches connect to. */
function listening(
  { options, continueWith }: OutboundChoice,
  accountOf: freeswitch.FreeswitchAccountOf,
  deps: SourceDeps,
): Source {
  const source = freeswitch.freeswitchOutbound({
    ...deps,
    ...options,
    accountOf,
    ...(continueWith === undefined ? {} : { continueWith: () => continueWith }),
  })
  return {
    async start() {
      const { host, port } = options
      const flag = '--freeswitch-outbound'
      await source.listen().catch((error: NodeJS.ErrnoException) => {
        throw listenProblem(error, port, host, { port: flag, host: flag })
      })
    },
    status: source.status,
    close: source.close,
  }
}

/** @throws `InvalidOption` when the file of the authority cannot be read */
async function amiTls({ isTls, caFile }: AmiChoice): Promise<boolean | { readonly ca: string }> {
  if (caFile === undefined) return isTls
  try {
    return { ca: await readFile(caFile, 'utf8') }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    throw wrongFlag('--asterisk-ami', `the parameter ca names a file that cannot be read (${code})`)
  }
}

function freeswitchAccount(from: AccountFrom, accounts: AccountLookup): freeswitch.FreeswitchAccountOf {
  const ofLeg = freeswitchLegAccount(from, accounts)
  const ofRealm = accounts.by('realm', freeswitch.accountFromRealm)
  // A device, an agent or a text message has no channel: its realm is that of its account.
  return (facts) => (facts.header('Unique-ID') === undefined ? ofRealm(facts) : ofLeg(facts))
}

function freeswitchLegAccount(from: AccountFrom, accounts: AccountLookup): freeswitch.FreeswitchAccountOf {
  switch (from.kind) {
    case 'variable':
      return freeswitch.accountFromVariable(from.name)
    case 'sip-header':
      return freeswitch.accountFromSipHeader(from.name)
    case 'account-code':
      return freeswitch.accountFromAccountCode()
    case 'context':
      return accounts.by('id', freeswitch.accountFromContext)
    case 'endpoint':
      return accounts.by('id', freeswitch.accountFromEndpoint)
    case 'realm':
      return accounts.by('realm', freeswitch.accountFromRealm)
  }
}

function asteriskLegOptions(
  choice: { readonly accountFrom: AccountFrom; readonly realmFrom?: RealmFrom },
  accounts: AccountLookup,
): Pick<asterisk.LegOptions, 'accountOf' | 'realmOf'> {
  const accountOf = asteriskAccount(choice.accountFrom, accounts)
  const { realmFrom } = choice
  switch (realmFrom?.kind) {
    case undefined:
      return { accountOf }
    case 'account':
      return { accountOf, realmOf: (leg) => accounts.realmOf(accountOf(leg)) }
    case 'variable':
      return { accountOf, realmOf: (leg) => leg.variable(realmFrom.name) }
    case 'fixed':
      return { accountOf, realmOf: () => realmFrom.name }
  }
}

function asteriskAccount(from: AccountFrom, accounts: AccountLookup): asterisk.AsteriskAccountOf {
  switch (from.kind) {
    case 'variable':
      return asterisk.accountFromVariable(from.name)
    case 'context':
      return accounts.by('id', asterisk.accountFromContext)
    case 'endpoint':
      return accounts.by('id', asterisk.accountFromEndpoint)
    default:
      return asterisk.accountFromAccountCode()
  }
}
