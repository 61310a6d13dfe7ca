/** An account: who owns webhooks, users and an API key. Accounts form a tree. */
export interface Account {
  /** `^[A-Za-z0-9_-]{1,64}$` */
  readonly id: string
  readonly name: string
  /** SIP realm, lower-cased and trimmed, unique. */
  readonly realm: string
  readonly parentId?: string
  readonly enabled: boolean
  /** ISO language tag shown at login. */
  readonly language: string
  readonly isReseller: boolean
  readonly resellerId?: string
  readonly createdMs: number
  readonly modifiedMs: number
}

/** How a realm is compared: trimmed, lower-cased (KAZOO `kz_term:to_lower_binary`). */
export function realmKey(realm: string): string {
  return realm.trim().toLowerCase()
}

/** How an account name is compared: its letters and digits, lower-cased ("Parent Telecom" = `parenttelecom`). */
export function nameKey(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
