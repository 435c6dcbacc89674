// The package's entry `urlsieve/learn`: rules that are learned from pages whose content is known.
export type { Evidence, LearnedRule, RuleData, RuleKind } from './learned-rule.ts'
export {
  type Checked,
  checkRules,
  type Learned,
  type LearnOptions,
  learn,
  type PageCounts,
  PageSet,
} from './learner.ts'
export { type PageRecord, parsePageRecord } from './page-records.ts'
export { type LearnedRules, learnedProfile, parseRules } from './rule-file.ts'
export type { Level, Scope } from './scope.ts'
