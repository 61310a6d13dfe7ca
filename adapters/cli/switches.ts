/** Creates the event sources for the chosen switches. */
import type { Hookswitch, Log } from 'hookswitch'
import * as asterisk from 'hookswitch/asterisk'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import { type AccountLookup, accountLookup } from './account-lookup.js'
import type { AccountFrom, SwitchChoice, SwitchChoices } from './switch-options.js'

/** The running sources. */
export interface Switches {
  start(): void
  /** Closes the sources; call it before the service closes, so that received events are published. */
  close(drainMs: number): Promise<void>
}

/** @param hs a started instance; its accounts are read */
export async function connectSwitches(
  hs: Hookswitch,
  { switches, accountFrom }: SwitchChoices,
  log: Log,
): Promise<Switches> {
  const accounts = await accountLookup(hs.accounts.list, log)
  const sources = switches.map((choice) =>
    sourceOf(choice, accountFrom, accounts, { publish: hs.publish, log }),
  )
  return {
    start() {
      for (const source of sources) source.start()
    },
    async close(drainMs) {
      await Promise.all(sources.map((source) => source.close({ drainMs })))
    },
  }
}

interface SourceDeps {
  readonly publish: Hookswitch['publish']
  readonly log: Log
}

function sourceOf(
  choice: SwitchChoice,
  from: AccountFrom,
  accounts: AccountLookup,
  deps: SourceDeps,
): freeswitch.SwitchSource {
  switch (choice.kind) {
    case 'freeswitch': {
      const { host, port, password } = choice
      return freeswitch.freeswitchSource({
        ...deps,
        host,
        port,
        password,
        accountOf: freeswitchAccount(from, accounts),
      })
    }
    case 'asterisk-ami': {
      const { host, port, username, secret } = choice
      const accountOf = asteriskAccount(from, accounts)
      return asterisk.asteriskAmi({ ...deps, host, port, username, secret, accountOf })
    }
    case 'asterisk-ari': {
      const { url, username, password } = choice
      return asterisk.asteriskAri({
        ...deps,
        url,
        username,
        password,
        accountOf: asteriskAccount(from, accounts),
      })
    }
    case 'kamailio': {
      const { host, port } = choice
      const accountOf = accounts.by('realm', kamailio.accountByDomain)
      return kamailio.kamailioSource({ ...deps, host, port, accountOf })
    }
  }
}

function freeswitchAccount(from: AccountFrom, accounts: AccountLookup): freeswitch.FreeswitchAccountOf {
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
