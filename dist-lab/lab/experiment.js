// What an experiment is to the lab: it asks a question, runs over URLs, and answers with numbers: tables, plots and
// a finding that is computed from them. Measuring is apart from reporting.
export {};
