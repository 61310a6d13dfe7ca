/** The command `token`. */
import { wrongFlag } from '../read-flags.js'
import { textCommand } from './api-commands.js'
import type { Command } from './command.js'

export const TOKEN_COMMANDS: readonly Command[] = [
  textCommand(
    {
      words: ['token', 'create'],
      summary: 'log in and print a token',
      details: 'Other commands accept it in HOOKSWITCH_TOKEN, together with HOOKSWITCH_ACCOUNT.',
    },
    async (client, context) => {
      const token = await client.token()
      context.keepToken()
      return { text: token, document: { auth_token: token, account_id: await client.accountId() } }
    },
  ),
  {
    words: ['token', 'revoke'],
    summary: 'revoke the token in HOOKSWITCH_TOKEN',
    async run(context) {
      if (!context.env.HOOKSWITCH_TOKEN)
        throw wrongFlag('HOOKSWITCH_TOKEN', 'is required: the token to revoke')
      await context.client().signOut()
      await context.output.text('revoked', { revoked: true })
    },
  },
]
