/** The environment variables of the commands for a running service; `MAIN_HELP` describes them. */
export const COMMAND_VARIABLES: ReadonlySet<string> = new Set([
  'HOOKSWITCH_URL',
  'HOOKSWITCH_API_KEY',
  'HOOKSWITCH_TOKEN',
  'HOOKSWITCH_ACCOUNT',
  'HOOKSWITCH_USER_PASSWORD',
  'HOOKSWITCH_WEBHOOK_SECRET',
])

/** Those with a secret; `NAME_FILE` may name a file with it instead. */
export const COMMAND_SECRETS: readonly string[] = [
  'HOOKSWITCH_API_KEY',
  'HOOKSWITCH_TOKEN',
  'HOOKSWITCH_USER_PASSWORD',
  'HOOKSWITCH_WEBHOOK_SECRET',
]
