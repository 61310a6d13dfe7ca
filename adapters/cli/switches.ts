/** The switches of the flags as sources of the service. */
import type { Hookswitch, Log } from 'hookswitch'
import * as asterisk from 'hookswitch/asterisk'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import { type KnownAccounts, knownAccounts } from './known-accounts.js'
import type { AccountFrom, SwitchChoice, SwitchChoices } from './switch-choice.js'

/** Sources that run beside the service. */
export interface Switches {
  start(): void
  /** Before the service: what was heard is published first. */
  close(drainMs: number): Promise<void>
}

/** @param hs started: its accounts are read */
export async function connectSwitches(
  hs: Hookswitch,
  { switches, accountFrom }: SwitchChoices,
  log: Log,
): Promise<Switches> {
  const accounts = await knownAccounts(hs.accounts.list, log)
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

interface Common {
  readonly publish: Hookswitch['publish']
  readonly log: Log
}

function sourceOf(
  choice: SwitchChoice,
  from: AccountFrom,
  accounts: KnownAccounts,
  common: Common,
): freeswitch.SwitchSource {
  switch (choice.kind) {
    case 'freeswitch': {
      const { host, port, password } = choice
      return freeswitch.freeswitchSource({
        ...common,
        host,
        port,
        password,
        accountOf: ofFreeswitch(from, accounts),
      })
    }
    case 'asterisk-ami': {
      const { host, port, username, secret } = choice
      const accountOf = ofAsterisk(from, accounts)
      return asterisk.asteriskAmi({ ...common, host, port, username, secret, accountOf })
    }
    case 'asterisk-ari': {
      const { url, username, password } = choice
      return asterisk.asteriskAri({
        ...common,
        url,
        username,
        password,
        accountOf: ofAsterisk(from, accounts),
      })
    }
    case 'kamailio': {
      const { host, port } = choice
      const accountOf = accounts.lookUp('realm', kamailio.accountByDomain)
      return kamailio.kamailioSource({ ...common, host, port, accountOf })
    }
  }
}

function ofFreeswitch(from: AccountFrom, accounts: KnownAccounts): freeswitch.FreeswitchAccountOf {
  switch (from.kind) {
    case 'variable':
      return freeswitch.accountFromVariable(from.name)
    case 'sip-header':
      return freeswitch.accountFromSipHeader(from.name)
    case 'account-code':
      return freeswitch.accountFromAccountCode()
    case 'context':
      return accounts.lookUp('id', freeswitch.accountFromContext)
    case 'endpoint':
      return accounts.lookUp('id', freeswitch.accountFromEndpoint)
    case 'realm':
      return accounts.lookUp('realm', freeswitch.accountFromRealm)
  }
}

function ofAsterisk(from: AccountFrom, accounts: KnownAccounts): asterisk.AsteriskAccountOf {
  switch (from.kind) {
    case 'variable':
      return asterisk.accountFromVariable(from.name)
    case 'context':
      return accounts.lookUp('id', asterisk.accountFromContext)
    case 'endpoint':
      return accounts.lookUp('id', asterisk.accountFromEndpoint)
    default:
      return asterisk.accountFromAccountCode()
  }
}
