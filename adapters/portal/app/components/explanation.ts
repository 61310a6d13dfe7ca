/** Explanations of deliveries in the language of the page. */
import type { Explanation } from 'hookswitch/client'
import { failureText, t } from '../state/translate.js'
import { type ExplanationContext, explain } from '../text/explanation.js'
import type { MessageKey } from '../text/messages.js'
import { clockText } from './time.js'

export const explanationText = (explanation: Explanation, context: ExplanationContext) =>
  explain(explanation, context, {
    say: (key, parameters) => t(key as MessageKey, parameters),
    cause: failureText,
    clock: clockText,
  })
