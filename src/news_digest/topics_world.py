"""The lexicon's entries outside technology; see :mod:`news_digest.topics`."""

from __future__ import annotations

__all__ = ["WORLD"]

WORLD: tuple[tuple[str, str, str, str], ...] = (
    (
        "science",
        "research, scientific research, discoveries",
        """
        scientist, researcher, study finds, new study, physicist, biologist, chemist, peer-reviewed, experiment,
        laboratory, fossil, species, particle, genome, neuroscien*, archaeolog*, discovery
        """,
        "research, study, university, evidence, theory, brain, cell, journal",
    ),
    (
        "physics",
        "particle physics",
        """
        physicist, physics, particle, CERN, neutrino, quark, superconduct*, dark matter, gravitational wave, fusion,
        photon, relativity, collider, condensed matter
        """,
        "quantum, energy, experiment, laser, theory",
    ),
    (
        "mathematics",
        "maths, math",
        """
        mathematic*, theorem, conjecture, Erdős, Fields Medal, Terence Tao, proof, Lean, topology, number theory,
        combinatoric*, geometry, Olympiad
        """,
        "equation, prime, problem, algebra",
    ),
    (
        "health",
        "medicine, healthcare, health care, public health, medical news",
        """
        health, hospital, patient, disease, cancer, vaccine, vaccinat*, clinical trial, FDA, drug, doctor,
        physician, nurse, surgery, diabetes, Alzheimer*, obesity, covid*, virus, outbreak, pandemic, mental health,
        WHO, CDC, Ozempic
        """,
        "treatment, therapy, medical, medicine, symptom, infection, care, insurance",
    ),
    (
        "biotechnology",
        "biotech, genetics, gene editing, life sciences",
        """
        biotech*, CRISPR, gene, genetic*, genome, mRNA, protein, stem cell, DNA, RNA, embryo, antibod*, synthetic
        biology, pharma*, drug discovery, Moderna
        """,
        "cell, trial, therapy, lab, bacteria, biology",
    ),
    (
        "climate change",
        "climate, environment, global warming, sustainability",
        """
        climate, global warming, greenhouse gas*, emission, carbon, net zero, net-zero, COP3*, wildfire, drought,
        flood*, heatwave, heat wave, sea level, biodiversity, deforest*, conservation, pollution, glacier
        """,
        "environment*, weather, temperature, sustainab*, green, ocean, storm, hurricane",
    ),
    (
        "energy",
        "renewables, renewable energy, nuclear power, oil and gas, power grid",
        """
        solar, wind farm, wind power, nuclear, reactor, renewable, oil price, natural gas, OPEC, power plant, power
        grid, battery storage, batteries, geothermal, hydrogen, electricity, coal, LNG, pipeline, fusion
        """,
        "energy, power, grid, fuel, utility, utilities, megawatt, gigawatt, barrel",
    ),
    (
        "electric vehicles",
        "evs, cars, automotive, self-driving cars, autonomous vehicles, electric cars",
        """
        electric vehicle, EV, EVs, electric car, Tesla, Rivian, BYD, Lucid, Waymo, robotaxi, self-driving,
        autonomous vehicle, Cybertruck, charging station, Supercharger, carmaker, automaker, Volkswagen, Toyota,
        Ford, General Motors
        """,
        "car, vehicle, battery, driver, charging, motor, autopilot",
    ),
    (
        "transport",
        "transportation, aviation, trains, railways, airlines, public transport",
        """
        airline, airport, Boeing, Airbus, aircraft, flight, railway, high-speed rail, train, subway, metro, bus,
        cyclist, bicycle, shipping, freight, ferry, public transport, transit, FAA
        """,
        "passenger, pilot, route, station, traffic, road, cargo",
    ),
    (
        "startups",
        "venture capital, entrepreneurship, vc, founders, start-ups",
        """
        startup, start-up, venture capital, seed round, series A, series B, series C, series D, series E, Y
        Combinator, founder, valuation, unicorn, raised $*, raises $*, funding round, Andreessen Horowitz, a16z,
        Sequoia, accelerator
        """,
        "funding, investor, round, raise*, valued, backed, pre-seed, pivot",
    ),
    (
        "business",
        "companies, corporate news, big tech, industry",
        """
        acquisition, acquire*, merger, earnings, revenue, profit, quarterly, IPO, layoff, lay off, lays off,
        shareholder, CEO, chief executive, antitrust, market share, buyout, restructur*, bankrupt*
        """,
        "company, companies, deal, sales, investor, billion, market, stock, customer",
    ),
    (
        "finance",
        "stock market, markets, investing, banking, personal finance, wall street, fintech",
        """
        stock, stocks, shares, Nasdaq, S&P 500, Dow Jones, Wall Street, bond, treasury yield, hedge fund, bank,
        banking, interest rate, Federal Reserve, Fed, ECB, investor, IPO, fintech, mortgage, Goldman Sachs,
        JPMorgan, dividend
        """,
        "market, rate, trading, price, fund, debt, loan, index, asset",
    ),
    (
        "economy",
        "economics, inflation, trade, tariffs, world economy",
        """
        economy, economic*, economist, inflation, GDP, recession, unemployment, tariff, trade war, trade deal,
        central bank, Federal Reserve, interest rate, consumer price, jobs report, cost of living, budget deficit,
        stimulus, IMF, World Bank
        """,
        "growth, price, wage, export, import, tax, spending, rate, market",
    ),
    (
        "cryptocurrency",
        "crypto, bitcoin, blockchain, web3, ethereum, defi",
        """
        crypto, cryptocurrenc*, bitcoin, Ethereum, blockchain, stablecoin, Coinbase, Binance, Solana, NFT, DeFi,
        web3, altcoin, Tether, crypto wallet, token sale, Ripple, memecoin
        """,
        "token, wallet, exchange, mining, ledger",
    ),
    (
        "politics",
        "us politics, government, elections, policy, american politics",
        """
        president, Congress, Senate, senator, White House, election, Democrat, Republican, GOP, Trump, Biden,
        lawmaker, parliament, prime minister, governor, ballot, voter, legislation, campaign, Supreme Court,
        impeach*, filibuster, minister, coalition government
        """,
        "vote, bill, policy, party, administration, government, official, political, debate",
    ),
    (
        "world news",
        "international news, world, world politics, foreign affairs, geopolitics, global news",
        """
        United Nations, UN, NATO, European Union, EU, Kremlin, Putin, Ukrain*, Russia*, China, Beijing, Xi Jinping,
        Israel*, Gaza, Palestin*, Iran*, Taliban, Afghan*, North Korea*, Syria*, India, prime minister, foreign
        minister, embassy, diplomat*, ceasefire, sanction, summit, refugee
        """,
        "government, military, protest, border, international, foreign, troops, minister",
    ),
    (
        "war",
        "conflict, military, defense, defence, ukraine war",
        """
        war, missile, airstrike, air strike, invasion, troops, soldier, Pentagon, army, navy, air force, ceasefire,
        combat, frontline, front line, Ukrain*, Gaza, Hamas, Hezbollah, drone strike, weapon, NATO, warship, fighter
        jet, artillery, military
        """,
        "attack, defense, defence, forces, killed, security, strike, conflict",
    ),
    (
        "law",
        "courts, regulation, legal, tech policy, antitrust, justice",
        """
        lawsuit, sue, sued, sues, suing, judge, court, Supreme Court, jury, verdict, ruling, antitrust, copyright,
        patent, settlement, plaintiff, regulator, regulation, FTC, DOJ, attorney general, indict*, convict*,
        sentenced, GDPR, DMA, class action, injunction, appeal*
        """,
        "legal, law, fine, fined, charge*, rule, ban, banned, comply, compliance",
    ),
    (
        "education",
        "schools, universities, teaching, learning",
        """
        education, school, teacher, student, university, universities, college, classroom, curriculum, tuition,
        campus, Harvard, Stanford, literacy, kindergarten, exam, degree, professor
        """,
        "learning, course, teach*, class, graduate, academic",
    ),
    (
        "jobs",
        "careers, work, labor, labour, employment, workplace, hiring, remote work",
        """
        hiring, layoff, lay off, laid off, job market, unemployment, workforce, employee, remote work, return to
        office, union, strike, wage, career, job cut, recruiter, resume, interview, workplace, minimum wage, gig
        worker, freelancer
        """,
        "job, worker, employer, manager, salary, team, promotion, productivity",
    ),
    (
        "media",
        "journalism, news industry, press, publishing",
        """
        journalis*, newspaper, newsroom, reporter, New York Times, Washington Post, BBC, CNN, Fox News, broadcaster,
        publisher, Substack, podcast, press freedom, streaming, Netflix, Disney, Warner Bros., misinformation,
        disinformation
        """,
        "news, media, editor, subscriber, audience, magazine, television",
    ),
    (
        "film and television",
        "movies, film, tv, television, cinema, series, streaming",
        """
        film, movie, Hollywood, Netflix, Disney, HBO, box office, director, actor, actress, TV series, television,
        Oscar, Emmy, sequel, trailer, cinema, Pixar, Marvel, Star Wars, screenwriter, streaming service, showrunner
        """,
        "season, episode, studio, character, cast, premiere, show",
    ),
    (
        "music",
        "songs, concerts, musicians",
        """
        music, musician, album, song, singer, band, concert, Spotify, Grammy, rapper, vinyl, record label, Taylor
        Swift, tour, festival, guitar, orchestra, composer, playlist
        """,
        "artist, track, audio, stage, sound, chart",
    ),
    (
        "books",
        "literature, reading, novels, writing",
        """
        book, novel, author, novelist, bookstore, publisher, literary, literature, Booker, Pulitzer, poet, poem,
        poetry, memoir, library, librarian, Kindle, bestseller
        """,
        "reading, story, writer, fiction, chapter, writing",
    ),
    (
        "arts and culture",
        "art, culture, museums, arts",
        """
        museum, exhibition, gallery, galleries, painting, painter, sculpt*, artwork, artist, theatre, theater,
        opera, ballet, heritage, archaeolog*, Louvre, biennale, curator
        """,
        "culture, cultural, history, festival, collection, design",
    ),
    (
        "design",
        "ux, ui, user experience, typography, product design",
        """
        design system, UX, UI, user interface, user experience, Figma, typography, typeface, font, designer, graphic
        design, product design, Canva, Adobe, prototype, usability, accessibility
        """,
        "design, interface, layout, color, icon, brand",
    ),
    (
        "sports",
        "sport, athletics, nfl, nba, olympics",
        """
        Olympic*, NFL, NBA, MLB, NHL, FIFA, UEFA, World Cup, championship, tournament, athlete, coach, football,
        soccer, basketball, baseball, tennis, cricket, golf, rugby, Formula 1, Grand Prix, Premier League,
        quarterback, Super Bowl, Wimbledon, marathon
        """,
        "team, match, season, player, win, score, final, league, goal, game",
    ),
    (
        "football",
        "soccer, premier league, fussball",
        """
        football, soccer, FIFA, UEFA, World Cup, Champions League, Premier League, Bundesliga, La Liga, Serie A,
        striker, goalkeeper, midfielder, penalty, Messi, Ronaldo, Mbappé, transfer window
        """,
        "goal, club, match, coach, league, fans",
    ),
    (
        "travel",
        "tourism, holidays, destinations",
        """
        travel*, touris*, hotel, Airbnb, airline, airport, vacation, cruise, passport, visa, destination, backpack*,
        itinerary, resort, flight
        """,
        "trip, visitor, island, guide, beach, booking",
    ),
    (
        "food",
        "cooking, restaurants, recipes, food and drink",
        """
        food, restaurant, chef, recipe, cooking, cuisine, Michelin, grocery, bakery, coffee, wine, beer, vegan,
        meal, ingredient, dish, kitchen
        """,
        "eat*, taste, menu, diet, farm, drink",
    ),
)
