/** An account owns webhooks, users and an API key. Accounts form a tree. */
export interface Account {
  /** `^[A-Za-z0-9_-]{1,64}$` */
  readonly id: string
  /** Label shown in lists, 1–128 characters. A login may name the account by it (`normalizeAccountName`). */
  readonly name: string
  /** SIP realm, lower-cased and trimmed, unique. */
  readonly realm: string
  /** Id of the parent account. Absent: this account is a root. */
  readonly parentId?: string
  /**
   * False: its logins and tokens are refused and its webhooks receive no events. Accounts below it are not
   * affected.
   */
  readonly enabled: boolean
  /** Language tag returned at login, 2–35 characters. Default `en-us` (KAZOO). */
  readonly language: string
  /** Whether the account resells the service; returned at login as `is_reseller`. */
  readonly isReseller: boolean
  /** Id of the reseller account, returned at login as `reseller_id`. Absent: none. */
  readonly resellerId?: string
  /** Time zone, kept as given and never looked up. Absent: the option `defaultTimezone`. */
  readonly timezone?: string
  /** Labels, shown in lists. Absent: none. */
  readonly flags?: readonly string[]
  /** Whether `accounts.ensure` has listed it: an account of a file that no longer lists it can then be found. */
  readonly isListed?: true
  /** Unknown public keys of clients of the HTTP API: stored and shown. Absent: none. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Creation time: wall clock, Unix ms. */
  readonly createdMs: number
  /** Time of the last change of the account: wall clock, Unix ms. */
  readonly modifiedMs: number
  /** 1, 2, …: incremented by every change. Absent: 1. */
  readonly revision?: number
}

/** The form in which `search` compares realms: without dots, hyphens and underscores. */
export function normalizeRealmForSearch(realm: string): string {
  return normalizeRealm(realm).replace(/[.\-_]/g, '')
}

/** The form in which realms are stored and compared: trimmed, lower-cased (KAZOO `kz_term:to_lower_binary`). */
export function normalizeRealm(realm: string): string {
  return realm.trim().toLowerCase()
}

/** The form in which account names are compared: letters and digits, lower-cased ("Parent Telecom" = `parenttelecom`). */
export function normalizeAccountName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** The revision of an account; 1 if it was stored before accounts had revisions. */
export function accountRevision(account: Pick<Account, 'revision'>): number {
  return account.revision ?? 1
}

/** The form of an account's name, realm or id that `search` compares. */
export function searchKeyOf(
  account: Pick<Account, 'id' | 'name' | 'realm'>,
  of: 'name' | 'realm' | 'id',
): string {
  if (of === 'id') return account.id
  return of === 'name' ? normalizeAccountName(account.name) : normalizeRealmForSearch(account.realm)
}
